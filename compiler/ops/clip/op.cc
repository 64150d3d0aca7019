// Resolves Clip; see op.h.
#include "compiler/ops/clip/op.h"

#include <cmath>
#include <limits>
#include <optional>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> clip_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
Clip without_limits(DType type) {
  if (type == DType::kF32) {
    // ONNX: "numeric_limits::lowest() and max()", which infinities are beyond.
    return {double{std::numeric_limits<float>::lowest()},
            double{std::numeric_limits<float>::max()}};
  }
  return {static_cast<double>(min_of(type)), static_cast<double>(max_of(type))};
}

std::optional<double> limit_input(ResolveContext& context, int i, const char* role,
                                  double fallback) {
  if (!context.has_input(i)) return fallback;
  if (context.dtype(i) != context.dtype(0)) {
    context.input_error(
        DiagKind::kType, i, role,
        cat("must be ", name_of(context.dtype(0)), ", got ", name_of(context.dtype(i))));
    return std::nullopt;
  }
  const Tensor* limit = context.constant(i);
  if (limit == nullptr) {
    context.needs_constant(i, role);
    return std::nullopt;
  }
  if (limit->size() != 1) {
    context.input_error(DiagKind::kShape, i, role,
                        cat("must have one element, got ", to_string(limit->shape())));
    return std::nullopt;
  }
  if (limit->dtype() != DType::kF32) return static_cast<double>(limit->integer(0));
  return double{limit->real(0)};
}

void resolve_clip(ResolveContext& context) {
  const bool integers = context.opset() >= 12;
  if (!(integers
            ? check_dtype(context, 0, "input", {DType::kF32, DType::kS8, DType::kU8, DType::kS32})
            : check_dtype(context, 0, "input", {DType::kF32}))) {
    return;
  }
  Clip params = without_limits(context.dtype(0));
  if (context.opset() < 11) {
    if (context.has_attr("min")) params.low = double{context.float_attr("min", 0)};
    if (context.has_attr("max")) params.high = double{context.float_attr("max", 0)};
    if (context.has_input(1) || context.has_input(2)) {
      context.error(DiagKind::kGraph, "min and max are attributes before operator set 11");
    }
  } else {
    const auto low = limit_input(context, 1, "min", params.low);
    const auto high = limit_input(context, 2, "max", params.high);
    if (!low || !high) return;
    params = {*low, *high};
  }
  if (std::isnan(params.low) || std::isnan(params.high)) {
    context.error(DiagKind::kTensor, "min and max must not be NaN");
    return;
  }
  context.set_output(0, context.dtype(0), context.shape(0));
  context.set_params(params);
}

constexpr OpName kClipNames[] = {{kOnnx, "Clip", 6}};
}  // namespace

void lower_clip(Lowering& lowering, const Node& node);

extern const OpDef kOp_clip = {.folder = "clip",
                               .names = kClipNames,
                               .arity = {.min_inputs = 1, .max_inputs = 3},
                               .resolve = resolve_clip,
                               .reference = clip_reference,
                               .lower = lower_clip,
                               .elements = pointwise_rule,
                               .layout = any_order_rule};

}  // namespace etch
