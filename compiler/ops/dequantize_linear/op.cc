// Checks and shapes of DequantizeLinear; see op.h.
#include "compiler/ops/dequantize_linear/op.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"

namespace etch {

namespace {

constexpr OpName kDequantizeLinearNames[] = {{kOnnx, "DequantizeLinear", 10},
                                             {kMicrosoft, "DequantizeLinear", 1}};

void check_output_type(ResolveContext& context) {
  if (context.node().domain != kOnnx || context.opset() < 23) return;
  const std::int64_t number = context.int_attr("output_dtype", 0);
  if (number == 0 || number == 1) return;  // 1: ONNX's number of float32
  context.error(DiagKind::kUnsupported, cat("output_dtype must be float32 (1), got ", number));
}

// Biases of TensorFlow Lite's 16x8.
void check_wide(ResolveContext& context) {
  if (context.dtype(0) != DType::kS64) return;
  const bool has_zero_point = context.has_input(2);
  const Tensor* const zero_point = has_zero_point ? context.constant(2) : nullptr;
  const bool zeros =
      !has_zero_point ||
      (zero_point != nullptr && zero_point->dtype() == DType::kS64 &&  // others are refused below
       std::ranges::all_of(zero_point->integers(), [](std::int64_t z) { return z == 0; }));
  if (context.constant(0) != nullptr && zeros) return;
  context.input_error(DiagKind::kUnsupported, 0, "x",
                      "int64 must be constant, with the zero point 0");
}

void resolve_dequantize_linear(ResolveContext& context) {
  check_dtype(context, 0, "x",
              {DType::kU8, DType::kS8, DType::kU16, DType::kS16, DType::kS32, DType::kU4,
               DType::kS4, DType::kS64});
  check_wide(context);
  check_output_type(context);
  const auto axis = resolve_quantization_axis(context);
  if (!axis) return;
  DequantizeLinearParams params{axis->axis, {}};
  // Quantizers of weights write negative scales, and 0 for a block of zeros.
  const ScaleRule rule = context.constant(0) == nullptr ? ScaleRule::kPositive : ScaleRule::kFinite;
  params.x = resolve_quantization(context, {"x", 1, 2}, context.dtype(0), axis->shapes, rule);
  context.set_output(0, DType::kF32, context.shape(0));
  context.set_params(std::move(params));
}

}  // namespace

void lower_dequantize_linear(Lowering& lowering, const Node& node);

namespace {
std::optional<Quantization> reads(const Node& node) {
  return params_of<DequantizeLinearParams>(node).x;
}
}  // namespace

extern const OpDef kOp_dequantize_linear = {.folder = "dequantize_linear",
                                            .names = kDequantizeLinearNames,
                                            .arity = {.min_inputs = 2, .max_inputs = 3},
                                            .resolve = resolve_dequantize_linear,
                                            .reference = reference_dequantize_linear,
                                            .lower = lower_dequantize_linear,
                                            .elements = pointwise_rule,
                                            .layout = any_order_rule,
                                            .reads = reads};

}  // namespace etch
