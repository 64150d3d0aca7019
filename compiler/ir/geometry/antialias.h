// Which inputs each output position of a Resize with antialias is the weighed mean of, along one
// axis. Where sizes shrink, the filter is as wide as the ratio of sizes. All steps are in float32,
// in ONNX Runtime's order, so that weights have its bits; docs/spec/float.md section 9.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/geometry/resize.h"

namespace etch {

struct FilterTaps {
  bool outside = false;    // extrapolated; the rest has no meaning
  std::int64_t first = 0;  // the input of the first weight
  std::vector<float> weights;
};
FilterTaps filter_taps(const Resize& params, std::size_t axis, std::int64_t at);

// Sums of 8 bits count in parts of 2^22; the weights must be in [-512, 512].
inline constexpr int kFilterBits = 22;
std::int32_t filter_parts(float weight);

// Whether sums of bytes with these weights stay in 32 bits.
bool fits_sums_of_bytes(const FilterTaps& taps);

}  // namespace etch
