// DynamicQuantizeLinear by its definition; see op.h.
#include "compiler/ops/dynamic_quantize_linear/op.h"
#include "compiler/ops/reference_math.h"

namespace etch {

std::vector<Tensor> reference_dynamic_quantize_linear(const Node&,
                                                      std::span<const Tensor* const> inputs) {
  const auto x = inputs[0]->as<float>();
  float low = 0;
  float high = 0;
  for (const float value : x) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const float range = high - low;
  const float scale = high == low ? 1.0F : range / 255.0F;
  const float zero = 0.0F - low / scale;
  const std::int32_t zero_point = round_and_saturate(zero, 0, DType::kU8);
  std::vector<std::int32_t> y;
  for (const float value : x) {
    y.push_back(round_and_saturate(value / scale, zero_point, DType::kU8));
  }
  return {narrowed(DType::kU8, inputs[0]->shape(), y), Tensor::of<float>({}, {scale}),
          narrowed(DType::kU8, {}, {zero_point})};
}

}  // namespace etch
