// QLinearSoftmax by plain loops; see op.h.
#include <algorithm>
#include <cmath>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_softmax/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {
// saturate(rne(t * Y / sum) + zero point). The product of two floats is exact in double, and a
// quotient that is no tie differs from one by more than double's rounding.
std::int32_t output_of(const QLinearSoftmax& params, float t, float sum) {
  const double quotient =
      static_cast<double>(t) * static_cast<double>(params.inverse_scale) / static_cast<double>(sum);
  const double rounded = std::nearbyint(std::min(quotient, 1024.0));
  const std::int32_t y = static_cast<std::int32_t>(rounded) + params.y_zero_point;
  return params.dtype == DType::kU8 ? std::clamp(y, 0, 255) : std::clamp(y, -128, 127);
}

// Writes one row of y; `at(k)` is the flat index of its element k.
template <class At>
void softmax_row(const QLinearSoftmax& params, const std::vector<std::int32_t>& x, At at,
                 std::vector<std::int32_t>& y) {
  std::int32_t most = x[at(0)];
  for (std::int64_t k = 1; k < params.rows.size; ++k) most = std::max(most, x[at(k)]);
  const auto entry = [&](std::int64_t k) {
    return params.table[as_index(255 - (most - x[at(k)]))];
  };
  float sum = 0.0F;
  for (std::int64_t k = 0; k < params.rows.size; ++k) sum += entry(k);
  for (std::int64_t k = 0; k < params.rows.size; ++k) {
    y[at(k)] = output_of(params, entry(k), sum);
  }
}
}  // namespace

std::vector<Tensor> qlinear_softmax_reference(const Node& node,
                                              std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QLinearSoftmax>(node);
  const SoftmaxRows& rows = params.rows;
  const std::vector<std::int32_t> x = widened(*inputs[0]);
  std::vector<std::int32_t> y(x.size());
  if (x.empty()) return {narrowed(params.dtype, params.shape, y)};
  for (std::int64_t o = 0; o < rows.outer; ++o) {
    for (std::int64_t i = 0; i < rows.inner; ++i) {
      const auto at = [&](std::int64_t k) {
        return as_index((o * rows.size + k) * rows.inner + i);
      };
      softmax_row(params, x, at, y);
    }
  }
  return {narrowed(params.dtype, params.shape, y)};
}

}  // namespace etch
