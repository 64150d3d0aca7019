// QLinearSoftmax by plain loops; see op.h.
#include <algorithm>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_softmax/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {
// rne(quotient) + zero point in `type`; see op.h for quotients that are infinite.
std::int32_t output_of(float quotient, std::int32_t zero_point, DType type) {
  const std::int64_t rounded = saturated_round(quotient, DType::kS32);
  const std::int32_t sum = wrap_to_int32(rounded + zero_point);
  const auto low_bits = static_cast<std::int32_t>(static_cast<std::uint8_t>(sum));
  if (type == DType::kU8) return sum > 255 ? 255 : low_bits;
  return std::clamp(sum, -128, 127);
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
    const float scaled = entry(k) * params.inverse_scale;
    y[at(k)] = output_of(scaled / sum, params.y_zero_point, params.dtype);
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
