// QLinearSigmoid and QLinearLeakyRelu by plain loops; see op.h.
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_activation/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> qlinear_activation_reference(const Node& node,
                                                 std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QLinearActivation>(node);
  std::vector<std::int32_t> elements = widened(*inputs[0]);
  for (std::int32_t& q : elements) {
    q = quantized(activate(params.function, dequantized(q, params.x)), params.y, params.dtype);
  }
  return {narrowed(params.dtype, inputs[0]->shape(), elements)};
}

}  // namespace etch
