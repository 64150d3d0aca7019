// One scale and one zero point, known at compile time: the only form that most operators of
// com.microsoft have. (Operators of ai.onnx also take vectors and run-time values, see
// quantization.h.)
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ops/quantization.h"

namespace etch {

struct ScalarQuantization {
  float scale = 1.0F;  // finite, > 0
  std::int32_t zero_point = 0;
  bool operator==(const ScalarQuantization&) const = default;
};

// Reads and checks both inputs as resolve_quantization() does for per-tensor shapes, and reports
// E-UNSUPPORTED when one is known only at run time.
std::optional<ScalarQuantization> scalar_quantization(ResolveContext& context,
                                                      const QuantizationInputs& inputs, DType type);

// fl(scale * (q - zero_point)) (docs/spec/quantization.md section 2.4).
float dequantized(std::int32_t q, const ScalarQuantization& from);

// The nearest value of `type` to fl(x / scale), clamped (docs/spec/quantization.md section 2.3).
std::int32_t quantized(float x, const ScalarQuantization& to, DType type);

// round(v), clamped to `type`; beyond int32 the least value, as the conversion of x64 gives it.
// QLinearMul keeps this (docs/spec/qlinear.md section 6.3).
std::int32_t saturated_round(float v, DType type);

}  // namespace etch
