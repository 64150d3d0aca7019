// See quantization.h.
#include "compiler/ir/quantization.h"

namespace etch {

std::vector<int> zero_points_of(const Tensor* zero_point) {
  if (zero_point == nullptr) return {0};
  std::vector<int> out;
  for (const std::int64_t value : zero_point->integers()) out.push_back(static_cast<int>(value));
  return out;
}

Quantization quantization_of(const Tensor& scale, const Tensor* zero_point) {
  const auto scales = scale.as<float>();
  return {{scales.begin(), scales.end()}, zero_points_of(zero_point)};
}

}  // namespace etch
