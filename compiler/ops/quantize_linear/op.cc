// Checks and shapes of QuantizeLinear; see op.h.
#include "compiler/ops/quantize_linear/op.h"

#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"

namespace etch {

namespace {

constexpr OpName kQuantizeLinearNames[] = {{kOnnx, "QuantizeLinear", 10},
                                           {kMicrosoft, "QuantizeLinear", 1}};

// ONNX's numbers of element types, as output_dtype has them.
std::optional<DType> type_of_number(std::int64_t number) {
  switch (number) {
    case 2:
      return DType::kU8;
    case 3:
      return DType::kS8;
    case 4:
      return DType::kU16;
    case 5:
      return DType::kS16;
    case 21:
      return DType::kU4;
    case 22:
      return DType::kS4;
    default:
      return std::nullopt;
  }
}

// Consumes the attributes that say something about the output type.
std::optional<DType> read_output_type(ResolveContext& context) {
  const bool onnx = context.node().domain == kOnnx;
  if (onnx && context.opset() >= 19) context.ignore_attr("saturate");
  if (onnx && context.opset() >= 23) context.ignore_attr("precision");
  if (!onnx || context.opset() < 21) return std::nullopt;
  const std::int64_t number = context.int_attr("output_dtype", 0);
  const std::optional<DType> type = type_of_number(number);
  if (number != 0 && !type) {
    context.error(DiagKind::kUnsupported,
                  cat("output_dtype ", number, " is not an integer type of at most 16 bits"));
  }
  return type;
}

DType find_type(ResolveContext& context) {
  const std::optional<DType> asked = read_output_type(context);
  if (!context.has_input(2)) return asked.value_or(DType::kU8);
  check_dtype(context, 2, "y_zero_point",
              {DType::kU8, DType::kS8, DType::kU16, DType::kS16, DType::kU4, DType::kS4});
  if (asked && *asked != context.dtype(2)) {
    context.attr_error("output_dtype", cat("must be y_zero_point's type ",
                                           name_of(context.dtype(2)), ", got ", name_of(*asked)));
  }
  return context.dtype(2);
}

void resolve_quantize_linear(ResolveContext& context) {
  if (context.dtype(0) == DType::kS32) {
    context.input_error(DiagKind::kUnsupported, 0, "x", "int32 cannot be quantized");
  } else {
    check_float32(context, 0, "x");
  }
  const DType type = find_type(context);
  const auto axis = resolve_quantization_axis(context);
  if (!axis) return;
  QuantizeLinearParams params{axis->axis, type, {}};
  params.y = resolve_quantization(context, {"y", 1, 2}, type, axis->shapes);
  context.set_output(0, type, context.shape(0));
  context.set_params(std::move(params));
}

}  // namespace

void lower_quantize_linear(Lowering& lowering, const Node& node);

namespace {
std::optional<Quantization> writes_as_quantize(const Node& node) {
  return params_of<QuantizeLinearParams>(node).y;
}
}  // namespace

extern const OpDef kOp_quantize_linear = {.folder = "quantize_linear",
                                          .names = kQuantizeLinearNames,
                                          .arity = {.min_inputs = 2, .max_inputs = 3},
                                          .resolve = resolve_quantize_linear,
                                          .reference = reference_quantize_linear,
                                          .lower = lower_quantize_linear,
                                          .elements = pointwise_rule,
                                          .layout = any_order_rule,
                                          .writes = writes_as_quantize};

}  // namespace etch
