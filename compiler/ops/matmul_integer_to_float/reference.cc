// MatMulIntegerToFloat and DynamicQuantizeMatMul by their definition; see op.h.
#include "compiler/ops/dynamic_quantize_linear/op.h"
#include "compiler/ops/matmul_integer_to_float/op.h"
#include "compiler/ops/quantization.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {

const Tensor* input_of(std::span<const Tensor* const> inputs, int i) {
  return i >= 0 && as_index(i) < inputs.size() ? inputs[as_index(i)] : nullptr;
}

struct QuantizedMatrix {
  std::vector<std::int32_t> values;
  float scale = 1;
  int zero_point = 0;
};

QuantizedMatrix matrix_a(const Node& node, const MatMulIntegerToFloat& params,
                         std::span<const Tensor* const> inputs) {
  if (params.quantizes_a) {
    const std::vector<Tensor> made = reference_dynamic_quantize_linear(node, inputs.subspan(0, 1));
    return {widened(made[0]), made[1].real(0), zero_points_of(&made[2]).front()};
  }
  return {widened(*inputs[0]), inputs[as_index(params.inputs.a_scale)]->real(0),
          zero_points_of(input_of(inputs, params.inputs.a_zero_point)).front()};
}

}  // namespace

std::vector<Tensor> reference_matmul_integer_to_float(const Node& node,
                                                      std::span<const Tensor* const> inputs) {
  const auto& params = params_of<MatMulIntegerToFloat>(node);
  const QuantizedMatrix a = matrix_a(node, params, inputs);
  const std::vector<std::int32_t> b = widened(*inputs[1]);
  const auto b_scale = inputs[as_index(params.inputs.b_scale)]->as<float>();
  const std::vector<int> b_zero = zero_points_of(input_of(inputs, params.inputs.b_zero_point));
  const Tensor* bias = input_of(inputs, params.inputs.bias);
  const auto columns = as_index(params.geometry.cols);
  Tensor y(DType::kF32, params.geometry.output);
  const auto out = y.as<float>();
  run_matmul<std::int64_t>(
      params.geometry,
      [&](std::size_t ai, std::size_t bi, const MatMulElement& element) {
        const std::size_t column = element.b_col % columns;
        return std::int64_t{a.values[ai] - a.zero_point} * (b[bi] - b_zero[column % b_zero.size()]);
      },
      [&](const MatMulElement& element, std::int64_t sum) {
        const std::size_t column = element.b_col % columns;
        const float scale = a.scale * b_scale[column % b_scale.size()];
        const float value = static_cast<float>(wrap_to_int32(sum)) * scale;
        out[element.y] = bias == nullptr ? value : value + bias->as<float>()[column];
      });
  return {y};
}

}  // namespace etch
