// Kernels for float convolutions and matrix products: calls of runtime/etch_float_products.h.
#pragma once

#include <cstdint>

#include "runtime/etch_float_products.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Conv, ConvTranspose, MatMul and Gemm. Operands of `matrices`, one iteration per pair of matrices:
// x, packed weights, y. Elements of the arguments and of y count for one pair.
struct FloatProductPlan {
  bool depthwise = false;
  rt::FloatConvShape shape{};
  rt::FloatEnd end{1, 1, 0, 0, 0};
  Argument x, w, c;
  int y = 0;  // operand of the step
  std::int64_t y_elements = 1;
  RowNest matrices;  // n = 1
};

template <class S>
void float_product_kernel(S& s, const FloatProductPlan& p) {
  walk_rows(s, p.matrices, [&](const RowPlace<S>& at) {
    const auto x = pointer_to<float>(s, p.x) + at[0];
    const auto w = pointer_to<float>(s, p.w) + at[1];
    const auto c = pointer_to<float>(s, p.c);
    const auto y = s.template operand<float>(p.y) + at[2];
    const auto spans = {span_of<float>(p.x), span_of<float>(p.w), span_of<float>(p.c),
                        4 * p.y_elements};
    if (p.depthwise) {
      s.runtime(
          "float_depthwise", [](auto... all) { rt::float_depthwise(all...); }, spans, p.shape,
          p.end, x, w, c, y);
    } else {
      s.runtime(
          "float_conv", [](auto... all) { rt::float_conv(all...); }, spans, p.shape, p.end, x, w, c,
          y);
    }
  });
}

// Weights that are known at run time only, packed into panels: operands w and packed, of `n`
// elements each.
struct PackPlan {
  rt::PackShape shape{};
  std::int64_t n = 1;
};

template <class S>
void pack_kernel(S& s, const PackPlan& p) {
  s.runtime(
      "pack_panels", [](auto... all) { rt::pack_panels(all...); }, {4 * p.n, 4 * p.n}, p.shape,
      s.template operand<const float>(0), s.template operand<float>(1));
}

}  // namespace etch
