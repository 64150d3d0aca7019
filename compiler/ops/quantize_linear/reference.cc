// QuantizeLinear by its definition; see op.h.
#include "compiler/ops/quantize_linear/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_quantize_linear(const Node& node,
                                              std::span<const Tensor* const> inputs) {
  const auto& params = params_of<QuantizeLinearParams>(node);
  const Quantization q = quantization_of(*inputs[1], inputs.size() > 2 ? inputs[2] : nullptr);
  const auto x = inputs[0]->as<float>();
  std::vector<std::int32_t> y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t entry = params.axis.entry_of(static_cast<std::int64_t>(i));
    y.push_back(round_and_saturate(x[i] / q.scale_at(entry), q.zero_point_at(entry), params.type));
  }
  return {narrowed(params.type, inputs[0]->shape(), y)};
}

}  // namespace etch
