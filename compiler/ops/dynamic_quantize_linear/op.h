// DynamicQuantizeLinear: quantizes a float tensor to u8 with a scale found from its own range.
//
//   ai.onnx DynamicQuantizeLinear (11): x float32. y u8 with x's shape, y_scale float32 scalar,
//   y_zero_point u8 scalar.
//
// docs/spec/quantization.md section 2.5, in float32: lo = min(0, min x), hi = max(0, max x);
//   y_scale = fl(fl(hi - lo) / 255), or 1 when hi == lo
//   y_zero_point = round_half_even(clamp(fl(0 - fl(lo / y_scale)), 0, 255))
//   y = QuantizeLinear(x, y_scale, y_zero_point)
// NaN elements take no part in the range. An empty x counts as all zero.
#pragma once

#include "compiler/ops/op.h"

namespace etch {

// There is nothing to resolve: no params.
std::vector<Tensor> reference_dynamic_quantize_linear(const Node& node,
                                                      std::span<const Tensor* const> inputs);

}  // namespace etch
