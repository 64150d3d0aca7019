// QLinearMatMul by its definition; see op.h.
#include "compiler/ops/qlinear_matmul/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_qlinear_matmul(const Node& node,
                                             std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QLinearMatMulParams>(node);
  const MatMulGeometry& geometry = params.geometry;
  const Quantization qa = quantization_of(*inputs[1], inputs[2]);
  const Quantization qb = quantization_of(*inputs[4], inputs[5]);
  const Quantization qy = quantization_of(*inputs[6], inputs[7]);
  const std::vector<float> scale = combined_scale(qa, qb, qy);
  const std::vector<std::int32_t> a = widened(*inputs[0]);
  const std::vector<std::int32_t> b = widened(*inputs[3]);
  const DType type = inputs[7]->dtype();
  std::vector<std::int32_t> y(as_index(element_count(geometry.output)));
  run_matmul<std::int64_t>(
      geometry,
      [&](std::size_t ai, std::size_t bi, const MatMulElement& element) {
        const int b_zero = qb.zero_point[element.b_col % qb.zero_point.size()];
        return std::int64_t{a[ai] - qa.zero_point[0]} * (b[bi] - b_zero);
      },
      [&](const MatMulElement& element, std::int64_t sum) {
        if (!params.bias.empty()) sum += params.bias[element.b_col % params.bias.size()];
        const std::int32_t result = requantize(
            wrap_to_int32(sum), scale[element.b_col % scale.size()], qy.zero_point[0], type);
        y[element.y] = params.limits.of(result);
      });
  return {narrowed(type, geometry.output, y)};
}

}  // namespace etch
