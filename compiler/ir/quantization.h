// Scale and zero point of a tensor: real value = scale * (integer - zero_point), scale float32,
// zero_point of the tensor's type (docs/spec/requantization.md section 3.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/tensor.h"

namespace etch {

// Each vector has one entry for the whole tensor or one per channel, independently of the other.
struct Quantization {
  std::vector<float> scale;
  std::vector<int> zero_point;

  float scale_at(std::int64_t channel) const {
    return scale[scale.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
  }
  int zero_point_at(std::int64_t channel) const {
    return zero_point[zero_point.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
  }
  bool operator==(const Quantization&) const = default;
};

// The values of a scale and a zero-point tensor, unchecked; a null zero point is 0.
Quantization quantization_of(const Tensor& scale, const Tensor* zero_point);

// Values of a zero-point tensor, unchecked; null: {0}. A vector of equal values stays a vector.
std::vector<int> zero_points_of(const Tensor* zero_point);

}  // namespace etch
