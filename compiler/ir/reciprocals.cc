// Reciprocals of powers of two; see reciprocals.h.
#include "compiler/ir/reciprocals.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace etch {

bool is_power_of_two(float value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5F;
}

std::optional<Tensor> exact_reciprocals(const Tensor& scale) {
  if (scale.dtype() != DType::kF32) return std::nullopt;
  Tensor out(DType::kF32, scale.shape());
  for (std::int64_t i = 0; i < scale.size(); ++i) {
    const float value = scale.real(i);
    const bool is_power = std::isnormal(value) && is_power_of_two(value);
    const float reciprocal = is_power ? 1 / value : 0;
    if (!std::isnormal(reciprocal)) return std::nullopt;
    out.as<float>()[static_cast<std::size_t>(i)] = reciprocal;
  }
  return out;
}

}  // namespace etch
