// Short words for tensors in tests: f32({2}, {1, 2}).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/tensor.h"

namespace etch {

inline Tensor f32(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), values);
}
inline Tensor u8(Shape shape, const std::vector<std::uint8_t>& values) {
  return Tensor::of<std::uint8_t>(std::move(shape), values);
}
inline Tensor s8(Shape shape, const std::vector<std::int8_t>& values) {
  return Tensor::of<std::int8_t>(std::move(shape), values);
}
inline Tensor s32(Shape shape, const std::vector<std::int32_t>& values) {
  return Tensor::of<std::int32_t>(std::move(shape), values);
}
inline Tensor s64(Shape shape, const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>(std::move(shape), values);
}

// 0, 1, 2, ... as float32.
inline Tensor counting(Shape shape) {
  Tensor out(DType::kF32, std::move(shape));
  float next = 0;
  for (float& element : out.as<float>()) element = next++;
  return out;
}

}  // namespace etch
