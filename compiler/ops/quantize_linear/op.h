// QuantizeLinear: float to integer with scale and zero point.
//
//   ai.onnx QuantizeLinear (10, 13, 19, 21, 23) and com.microsoft QuantizeLinear (1): x float32,
//   y_scale float32, optional y_zero_point. One scale per tensor, per index of `axis` (default
//   1) or per block of `block_size` of them: quantization_axis.h. y has x's shape and the type of
//   y_zero_point, else output_dtype (21), else u8: u8, s8, u16, s16, u4 or s4.
//   `saturate` and `precision` concern types that are not supported here.
//
// docs/spec/quantization.md section 2.3, in float32: v = fl(x / y_scale), a true division; y =
// round_half_even(clamp(v, what fits once y_zero_point is added)) + y_zero_point. NaN gives the
// least value of the type. Infinities saturate, with blocks too (ONNX Runtime's blocked kernel
// gives arbitrary values for them).
#pragma once

#include <optional>

#include "compiler/ops/quantization.h"
#include "compiler/ops/quantization_axis.h"

namespace etch {

struct QuantizeLinearParams {
  QuantizationAxis axis;
  DType type = DType::kU8;
  std::optional<Quantization> y;  // entries per axis.entry_of; absent: known at run time only
};

std::vector<Tensor> reference_quantize_linear(const Node& node,
                                              std::span<const Tensor* const> inputs);

}  // namespace etch
