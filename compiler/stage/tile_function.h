// How the definition of a tile function begins: one that is inlined where it is called, or not.
#pragma once

#include <string_view>

namespace etch {

inline constexpr std::string_view kInlinedFunction = "[[gnu::always_inline]] static inline void ";
inline constexpr std::string_view kCalledFunction = "[[gnu::noinline]] static void ";

}  // namespace etch
