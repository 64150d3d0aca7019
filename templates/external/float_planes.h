// Descriptors of the functions of runtime/etch_float_planes.h and
// etch_float_depthwise_planes.h; see templates/external.h.
#pragma once

#include "runtime/etch_float_depthwise_planes.h"
#include "runtime/etch_float_planes.h"
#include "templates/external/products.h"

namespace etch::external {

// `lines` is memory that the copies of x take.
template <bool depthwise>
struct FloatPlanes : RuntimeFunction {
  FloatPlanes()
      : RuntimeFunction(depthwise ? "float_depthwise_planes" : "float_planes",
                        depthwise ? "etch_float_depthwise_planes.h" : "etch_float_planes.h",
                        FloatUse::kUsed) {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const float* w, const float* c, float* y, float* lines) const {
    if constexpr (depthwise) {
      rt::float_depthwise_planes(s, end, x, w, c, y, lines);
    } else {
      rt::float_planes(s, end, x, w, c, y, lines);
    }
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x, const float* w,
             const float* c, float* y, float* lines) const {
    const std::int64_t floats = depthwise ? rt::padded_plane(s).floats : rt::floats_of_lines(s);
    const auto others = FloatConv<false>{}.spans(s, end, x, w, c, y);
    return spans_of(others[0], others[1], others[2], others[3], span(lines, {}, floats));
  }
};

}  // namespace etch::external
