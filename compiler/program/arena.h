// What generated code relies on about where its memory is: the arena that its caller gives it and
// its own constants and ports. Stated once, for lowering, the memory planner, Audit, the generated
// header and reports.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/program/step.h"

namespace etch {

// What reports and evidence call the memory that a buffer is in.
std::string_view name_of(Home home);

// The bytes of the memory that the caller gives for an input or output, which a buffer at that home
// has exactly: no halo and no padding belongs to it. `port` must exist.
std::int64_t bytes_of_port(const Program& program, Home home, int port);

// The arena starts at a multiple of so many bytes: what the target's loads and the widest element,
// int64, need; a cache line if several threads write to it, so that they share none. Of several
// variants the most. A power of two.
std::int64_t arena_alignment(const Program& program);

// Constants start at multiples of so many bytes, the same for all of them, so that their order does
// not matter to the flash that they take: what loads need, and the widest of their elements. A
// power of two.
std::int64_t constant_alignment(const Program& program);

}  // namespace etch
