// Descriptors of the functions of runtime/etch_float_depthwise_lines.h; see templates/external.h.
#pragma once

#include <string>

#include "runtime/etch_float_depthwise_lines.h"
#include "templates/external/products.h"

namespace etch::external {

template <int kernel, int stride, int most>
const std::string& depthwise_lines_name() {
  static const std::string kName = "float_depthwise_lines<" + std::to_string(kernel) + ", " +
                                   std::to_string(stride) + ", " + std::to_string(most) + ">";
  return kName;
}

template <int kernel, int stride, int most>
struct FloatDepthwiseLines : ProductFunction<FloatDepthwiseLines<kernel, stride, most>> {
  FloatDepthwiseLines()
      : ProductFunction<FloatDepthwiseLines>(depthwise_lines_name<kernel, stride, most>(),
                                             "etch_float_depthwise_lines.h") {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const float* w, const float* c, float* y) const {
    this->in_steps([&](auto steps) {
      rt::float_depthwise_lines<kernel, stride, most, decltype(steps)>(s, end, x, w, c, y);
    });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x, const float* w,
             const float* c, float* y) const {
    return FloatConv<true>{}.spans(s, end, x, w, c, y);
  }
};

}  // namespace etch::external
