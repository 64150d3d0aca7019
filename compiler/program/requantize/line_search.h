// Is there a multiplier M and an offset R with floor((acc * M + R) / 2^s) = the float rule for all
// accumulators of a channel? The decision procedure of docs/spec/requantization.md section 3.5,
// extended in two ways: the offset may depend on whether floor(acc * M / 2^s) is odd, which is what
// rounding ties to even needs, and the formula may be wrong for a few accumulators.
//
// For a fixed M every demand bounds R from one side, so M works if the highest lower bound does
// not exceed the lowest upper bound. That gap is convex in M: a search along its slope finds the
// best M. With two offsets there are two gaps, and the larger of them is as convex. If even that
// fails, the bounds that block it (at most four) are known, and any solution with exceptions must
// give up one of them: a small search tree finds the fewest exceptions.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/program/requantize/channel.h"

namespace etch {

struct Line {
  std::int32_t multiplier = 0;  // 0 .. 2^31 - 1
  std::int64_t offset = 0;      // |offset| <= 2^62 - 2^32
  int shift = 0;                // 0 .. 54
  std::int32_t odd = 0;         // added where floor(acc * multiplier / 2^shift) is odd
};

enum class Offsets {
  kOne,       // odd = 0
  kByParity,  // any odd
};

// The shift at which `scale` * 2^shift has 31 bits, limited to what keeps all sums in 63 bits.
int shift_for(float scale);

// A line that meets all but at most `exceptions` of the demands, or nothing. With
// Offsets::kByParity that is a promise only while accumulators next to a threshold stay on its side
// of an integer, as they do for scales below 1/2: compare the result.
std::optional<Line> find_line(const RequantizeChannel& channel, const Demands& demands,
                              Offsets offsets, int exceptions);

}  // namespace etch
