// Is there a multiplier M and an offset R with floor((acc * M + R) / 2^s) = the float rule for all
// accumulators of a channel? The decision procedure of semantics section 7.3, extended to allow a
// few accumulators for which the formula may be wrong.
//
// For a fixed M every demand bounds R from one side, so M works if the highest lower bound does
// not exceed the lowest upper bound. That gap is convex in M: a search along its slope finds the
// best M. If even that fails, the bounds that block it (at most four) are known, and any solution
// with exceptions must give up one of them: a small search tree finds the fewest exceptions.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/schedule/requantize/channel.h"

namespace etch {

struct Line {
  std::int32_t multiplier = 0;  // 0 .. 2^31 - 1
  std::int64_t offset = 0;      // |offset| <= 2^62
  int shift = 0;                // 0 .. 54
};

// The shift at which `scale` * 2^shift has 31 bits, limited to what keeps all sums in 63 bits.
int shift_for(float scale);

// A line that meets all but at most `exceptions` of the demands, or nothing.
std::optional<Line> find_line(const RequantizeChannel& channel, const Demands& demands,
                              int exceptions);

}  // namespace etch
