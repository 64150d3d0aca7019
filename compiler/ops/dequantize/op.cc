// Checks and shapes of Dequantize; see op.h.
#include "compiler/ops/dequantize/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"

namespace etch {

namespace {

constexpr OpName kDequantizeNames[] = {{kTensorFlow, "Dequantize", 1}};

// An attribute that names a type in TensorFlow's way or by ONNX's number: the text of either.
std::string type_text(ResolveContext& context, const char* name) {
  const Attribute& attribute = context.node().attributes.at(name);
  const bool is_number = std::holds_alternative<std::int64_t>(attribute);
  return is_number ? cat(context.int_attr(name, 0)) : context.string_attr(name, "");
}

void check_types(ResolveContext& context) {
  check_dtype(context, 0, "input", {DType::kS8, DType::kU8, DType::kS16, DType::kU16, DType::kS32});
  if (context.has_attr("T")) {
    const std::string text = type_text(context, "T");
    const std::string_view input = tensorflow_name(context.dtype(0));
    const bool is_number = std::holds_alternative<std::int64_t>(context.node().attributes.at("T"));
    const std::optional<DType> type =
        is_number ? tensorflow_type(context.int_attr("T", 0)) : tensorflow_type(text);
    if (type != context.dtype(0)) {
      context.attr_error("T",
                         cat("must be the input's type ", input, ", got '", printable(text), "'"));
    }
  }
  if (context.has_attr("dtype")) {
    const std::string text = type_text(context, "dtype");
    if (text != "float" && text != "1") {
      context.attr_error("dtype", cat("must be float, got '", printable(text), "'"));
    }
  }
}

void resolve_dequantize(ResolveContext& context) {
  check_types(context);
  DequantizeParams params;
  params.mode = mode_attr(context);
  params.narrow_range = context.int_attr("narrow_range", 0) != 0;
  const std::optional<RangeSlices> slices = resolve_slices(context, params.mode);
  if (!slices || context.failed()) return;
  params.type = context.dtype(0);
  params.slices = *slices;
  context.set_output(0, DType::kF32, context.shape(0));
  context.set_params(params);
}

}  // namespace

void lower_dequantize(Lowering& lowering, const Node& node);

extern const OpDef kOp_dequantize = {.folder = "dequantize",
                                     .names = kDequantizeNames,
                                     .arity = {.min_inputs = 3, .max_inputs = 3},
                                     .resolve = resolve_dequantize,
                                     .reference = reference_dequantize,
                                     .lower = lower_dequantize,
                                     .elements = pointwise_rule,
                                     .layout = any_order_rule};

}  // namespace etch
