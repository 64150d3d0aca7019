// Global averages of bytes whose channels are one after the other in memory: one call of the
// runtime for all of them (docs/spec/qlinear.md section 6.5). Channels last: pool.h.
#pragma once

#include <cstdint>

#include "templates/external/plane_average.h"
#include "templates/stage.h"

namespace etch {

// Operands x and y, both dense.
struct PlaneAveragePlan {
  int planes = 1, pixels = 1;
  std::int32_t start = 0;  // of the sums, modulo 2^32: the zero points of all pixels
  float scale = 1;
  int zero_point = 0;  // as stored, as are the limits
  rt::Range range{0, 255};
};

template <class S>
void plane_average_kernel(S& s, const PlaneAveragePlan& plan) {
  s.call(external::AveragePlanes{}, s.template operand<const std::uint8_t>(0),
         s.template operand<std::uint8_t>(1), plan.planes, plan.pixels, plan.start, plan.scale,
         plan.zero_point, plan.range);
}

}  // namespace etch
