// MatMulInteger by its definition; see op.h.
#include "compiler/ops/matmul_integer/op.h"
#include "compiler/ops/quantization.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_matmul_integer(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  const MatMulGeometry& geometry = params_of<MatMulIntegerParams>(node).geometry;
  const std::vector<std::int32_t> a = widened(*inputs[0]);
  const std::vector<std::int32_t> b = widened(*inputs[1]);
  const std::vector<int> a_zero = zero_points_of(inputs.size() > 2 ? inputs[2] : nullptr);
  const std::vector<int> b_zero = zero_points_of(inputs.size() > 3 ? inputs[3] : nullptr);
  Tensor y(DType::kS32, geometry.output);
  const auto out = y.as<std::int32_t>();
  run_matmul<std::int64_t>(
      geometry,
      [&](std::size_t ai, std::size_t bi, const MatMulElement& element) {
        const int a_term = a[ai] - a_zero[element.a_row % a_zero.size()];
        return std::int64_t{a_term} * (b[bi] - b_zero[element.b_col % b_zero.size()]);
      },
      [&](const MatMulElement& element, std::int64_t sum) { out[element.y] = wrap_to_int32(sum); });
  return {y};
}

}  // namespace etch
