// Descriptors of the functions of runtime/etch_float_planes.h, etch_float_transposed_planes.h and
// etch_float_depthwise_planes.h; see templates/external.h.
#pragma once

#include <string>

#include "runtime/etch_float_depthwise_planes.h"
#include "runtime/etch_float_planes.h"
#include "runtime/etch_float_transposed_planes.h"
#include "templates/external/products.h"

namespace etch::external {

// `lines` is memory that the copies of x take.
struct FloatPlanes : ProductFunction<FloatPlanes> {
  FloatPlanes() : ProductFunction("float_planes", "etch_float_planes.h") {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const float* w, const float* c, float* y, float* lines) const {
    in_steps([&](auto steps) { rt::float_planes<decltype(steps)>(s, end, x, w, c, y, lines); });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x, const float* w,
             const float* c, float* y, float* lines) const {
    const auto others = FloatConv<false>{}.spans(s, end, x, w, c, y);
    return spans_of(others[0], others[1], others[2], others[3],
                    span(lines, {}, rt::floats_of_blocks(s)));
  }
};

// `memory` is for floats_of_phases().
struct FloatTransposedPlanes : ProductFunction<FloatTransposedPlanes> {
  FloatTransposedPlanes()
      : ProductFunction("float_transposed_planes", "etch_float_transposed_planes.h") {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const float* w, const float* c, float* y, float* memory) const {
    in_steps([&](auto steps) {
      rt::float_transposed_planes<decltype(steps)>(s, end, x, w, c, y, memory);
    });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x, const float* w,
             const float* c, float* y, float* memory) const {
    const auto others = FloatConv<false>{}.spans(s, end, x, w, c, y);
    return spans_of(others[0], others[1], others[2], others[3],
                    span(memory, {}, rt::floats_of_phases(s)));
  }
};

template <int size, int rows, int most>
const std::string& depthwise_planes_name() {
  static const std::string kName = "float_depthwise_planes<" + std::to_string(size) + ", " +
                                   std::to_string(rows) + ", " + std::to_string(most) + ">";
  return kName;
}

template <int size, int rows, int most>
struct FloatDepthwisePlanes : ProductFunction<FloatDepthwisePlanes<size, rows, most>> {
  FloatDepthwisePlanes()
      : ProductFunction<FloatDepthwisePlanes>(depthwise_planes_name<size, rows, most>(),
                                              "etch_float_depthwise_planes.h") {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const float* w, const float* c, float* y, float* lines) const {
    this->in_steps([&](auto steps) {
      rt::float_depthwise_planes<size, rows, most, decltype(steps)>(s, end, x, w, c, y, lines);
    });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x, const float* w,
             const float* c, float* y, float* lines) const {
    const auto others = FloatConv<false>{}.spans(s, end, x, w, c, y);
    return spans_of(others[0], others[1], others[2], others[3],
                    span(lines, {}, rt::padded_plane(s).floats));
  }
};

}  // namespace etch::external
