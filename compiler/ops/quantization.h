// Scale and zero point of an operand, as every quantized operator resolves them.
//
// real value = scale * (integer - zero_point), scale float32, zero_point of the operand's type.
// Scales and zero points are ordinary inputs of a node, so they may be known only at run time
// (ONNX's own test vectors do that); a resolved struct then holds no Quantization and reference
// functions read the input tensors. Constants are checked here once: later stages may rely on
// scales that are finite and > 0 and on combined scales that are too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/quantization.h"
#include "compiler/ops/op.h"

namespace etch {

// The positions of an operand's scale and zero point among the inputs of a node. Diagnostics call
// them "<operand>_scale" and "<operand>_zero_point".
struct QuantizationInputs {
  const char* operand = "x";
  int scale = 1;
  int zero_point = 2;  // the input may be omitted: zero point 0
};

// The shapes that a scale or zero point may have.
std::vector<Shape> per_tensor_shapes();                        // [] and [1]
std::vector<Shape> per_channel_shapes(std::int64_t channels);  // [], [1] and [channels]

// Reports unless input i is float32: E-UNSUPPORTED for another float type, which ONNX allows where
// this is asked, E-TYPE for all others. True when it is float32.
bool check_float32(ResolveContext& context, int input, const char* role);

// Checks both tensors: scale float32 (E-TYPE), zero point of `type` (E-TYPE), shapes among
// `shapes` (E-QUANT), constant scales finite and > 0 (E-QUANT). The result is absent after an
// error and when either tensor is known only at run time.
// With kFinite, for constants that become floats, a scale may be 0 or negative too; the result is
// absent then.
enum class ScaleRule { kPositive, kFinite };
std::optional<Quantization> resolve_quantization(ResolveContext& context,
                                                 const QuantizationInputs& inputs, DType type,
                                                 const std::vector<Shape>& shapes,
                                                 ScaleRule rule = ScaleRule::kPositive);

// The same for an operand that has a zero point only (ConvInteger, MatMulInteger).
std::optional<std::vector<int>> resolve_zero_points(ResolveContext& context, int input,
                                                    const char* role, DType type,
                                                    const std::vector<Shape>& shapes);

// fl(fl(x_scale * w_scale[c]) / y_scale) per entry of w_scale, in float32 and in this order
// (docs/spec/requantization.md section 3.2). x and y are per tensor.
std::vector<float> combined_scale(const Quantization& x, const Quantization& w,
                                  const Quantization& y);

// Reports E-QUANT for the first combined scale that is infinite, NaN or 0.
void check_combined_scale(ResolveContext& context, const std::vector<float>& scale);

}  // namespace etch
