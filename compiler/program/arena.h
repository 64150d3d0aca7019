// What generated code relies on about the memory that its caller gives it.
#pragma once

#include <cstdint>

namespace etch {

// The arena starts at a multiple of so many bytes: a cache line.
inline constexpr std::int64_t kArenaAlignment = 64;

}  // namespace etch
