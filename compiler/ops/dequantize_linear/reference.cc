// DequantizeLinear by its definition; see op.h.
#include "compiler/ops/dequantize_linear/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_dequantize_linear(const Node& node,
                                                std::span<const Tensor* const> inputs) {
  const auto& params = params_of<DequantizeLinearParams>(node);
  const Quantization q = quantization_of(*inputs[1], inputs.size() > 2 ? inputs[2] : nullptr);
  const Tensor& x = *inputs[0];
  Tensor y(DType::kF32, x.shape());
  const auto out = y.as<float>();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t entry = params.axis.entry_of(i);
    const std::int64_t steps = x.dtype() == DType::kS64
                                   ? x.integer(i)
                                   : wrap_to_int32(x.integer(i) - q.zero_point_at(entry));
    out[static_cast<std::size_t>(i)] = static_cast<float>(steps) * q.scale_at(entry);
  }
  return {y};
}

}  // namespace etch
