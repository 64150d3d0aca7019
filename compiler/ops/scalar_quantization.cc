// One constant scale and zero point; see scalar_quantization.h.
#include "compiler/ops/scalar_quantization.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/reference_math.h"

namespace etch {

namespace {
bool known(ResolveContext& context, int input, const std::string& role) {
  if (!context.has_input(input) || context.constant(input) != nullptr) return true;
  context.needs_constant(input, role.c_str());
  return false;
}
}  // namespace

std::optional<ScalarQuantization> scalar_quantization(ResolveContext& context,
                                                      const QuantizationInputs& inputs,
                                                      DType type) {
  if (!context.has_input(inputs.scale)) {
    context.error(DiagKind::kGraph,
                  cat("input ", inputs.scale, " (", inputs.operand, "_scale) is missing"));
    return std::nullopt;
  }
  if (!known(context, inputs.scale, cat(inputs.operand, "_scale"))) return std::nullopt;
  if (!known(context, inputs.zero_point, cat(inputs.operand, "_zero_point"))) return std::nullopt;
  const auto read = resolve_quantization(context, inputs, type, per_tensor_shapes());
  if (!read) return std::nullopt;
  return ScalarQuantization{read->scale[0], read->zero_point[0]};
}

float dequantized(std::int32_t q, const ScalarQuantization& from) {
  return from.scale * static_cast<float>(q - from.zero_point);
}

std::int32_t quantized(float x, const ScalarQuantization& to, DType type) {
  return round_and_saturate(x / to.scale, to.zero_point, type);
}

std::int32_t saturated_round(float v, DType type) {
  constexpr float kTwoTo31 = 2147483648.0F;
  const auto least = static_cast<std::int32_t>(min_of(type));
  const auto most = static_cast<std::int32_t>(max_of(type));
  if (!(v >= -kTwoTo31 && v < kTwoTo31)) return least;
  return std::clamp(static_cast<std::int32_t>(std::nearbyint(v)), least, most);
}

}  // namespace etch
