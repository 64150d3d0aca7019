// DequantizeLinear: integer to float with scale and zero point.
//
//   ai.onnx DequantizeLinear (10, 13, 19, 21, 23) and com.microsoft DequantizeLinear (1): x of
//   u8, s8, u16, s16, s32, u4 or s4, or a constant of s64 (zero point 0), x_scale float32, optional
//   x_zero_point of x's type. One scale per tensor, per index of `axis` (default 1) or per block of
//   `block_size` of them: quantization_axis.h. y float32 with x's shape; output_dtype (23) may only
//   repeat float32.
//
// docs/spec/quantization.md section 2.4: y = fl(float(x - x_zero_point) * x_scale); the subtraction
// is in 32-bit integers and comes first.
#pragma once

#include <optional>

#include "compiler/ops/quantization.h"
#include "compiler/ops/quantization_axis.h"

namespace etch {

struct DequantizeLinearParams {
  QuantizationAxis axis;
  std::optional<Quantization> x;  // entries per axis.entry_of; absent: known at run time only
};

std::vector<Tensor> reference_dequantize_linear(const Node& node,
                                                std::span<const Tensor* const> inputs);

}  // namespace etch
