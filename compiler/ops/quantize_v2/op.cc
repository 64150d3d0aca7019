// Checks and shapes of QuantizeV2; see op.h.
#include "compiler/ops/quantize_v2/op.h"

#include <cmath>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kQuantizeV2Names[] = {{kTensorFlow, "QuantizeV2", 1},
                                       {kTensorFlow, "Quantize", 1}};

constexpr const char* kAllowedTypes =
    "must be qint8, quint8, qint16, quint16, qint32 or their number";

// T as TensorFlow's name or as ONNX's number; both kinds of attribute occur.
std::optional<DType> type_attr(ResolveContext& context) {
  if (!context.has_attr("T")) {
    context.attr_error("T", kAllowedTypes);
    return std::nullopt;
  }
  const Attribute& attribute = context.node().attributes.at("T");
  const bool is_number = std::holds_alternative<std::int64_t>(attribute);
  const std::int64_t number = is_number ? context.int_attr("T", 0) : 0;
  const std::string name = is_number ? cat(number) : context.string_attr("T", "");
  const std::optional<DType> type = is_number ? tensorflow_type(number) : tensorflow_type(name);
  if (!type) context.attr_error("T", cat(kAllowedTypes, ", got '", printable(name), "'"));
  return type;
}

bool half_to_even_attr(ResolveContext& context, RangeMode mode) {
  const std::string text = context.string_attr("round_mode", "HALF_AWAY_FROM_ZERO");
  const bool half_to_even = text == "HALF_TO_EVEN";
  if (!half_to_even && text != "HALF_AWAY_FROM_ZERO") {
    context.attr_error("round_mode", cat("must be HALF_AWAY_FROM_ZERO or HALF_TO_EVEN, got '",
                                         printable(text), "'"));
  } else if (half_to_even && mode != RangeMode::kScaled) {
    context.attr_error("round_mode",
                       cat("can be HALF_TO_EVEN with mode SCALED only, not with ", name_of(mode)));
  }
  return half_to_even;
}

float minimum_range_attr(ResolveContext& context) {
  const float value = context.float_attr("ensure_minimum_range", 0.01F);
  if (!std::isfinite(value)) context.attr_error("ensure_minimum_range", "must be finite");
  return value;
}

// The range of one slice, from constants.
std::optional<QuantizeV2Range> checked_range(ResolveContext& context, float min, float max,
                                             const QuantizeV2Rule& rule) {
  const std::string what = cat("min_range ", decimal(min), " and max_range ", decimal(max));
  if (!std::isfinite(min) || !std::isfinite(max)) {
    context.error(DiagKind::kQuant, cat(what, ": both must be finite"));
    return std::nullopt;
  }
  if (max < min) {
    context.error(DiagKind::kQuant, cat(what, ": max_range must not be less than min_range"));
    return std::nullopt;
  }
  const QuantizeV2Range range = quantize_v2_range(min, max, rule);
  if (!is_usable(range)) {
    context.error(DiagKind::kQuant,
                  cat(what, ": the factor ", decimal(range.scale), " for ", decimal(range.low),
                      " to ", decimal(range.high), " is beyond float32"));
    return std::nullopt;
  }
  return range;
}

// Empty unless min_range and max_range are good constants.
std::vector<QuantizeV2Range> constant_ranges(ResolveContext& context,
                                             const QuantizeV2Params& params) {
  const Tensor* min = context.constant(1);
  const Tensor* max = context.constant(2);
  if (min == nullptr || max == nullptr || context.failed()) return {};
  std::vector<QuantizeV2Range> ranges;
  for (std::int64_t s = 0; s < params.slices.count; ++s) {
    const auto range = checked_range(context, min->real(s), max->real(s), params.rule);
    if (!range) return {};
    ranges.push_back(*range);
  }
  return ranges;
}

// output_min and output_max: known now when the ranges are.
void set_ends(ResolveContext& context, const QuantizeV2Params& params) {
  const Shape shape = params.slices.count == 1 ? Shape{} : context.shape(1);
  if (params.ranges.empty()) {
    context.set_output(1, DType::kF32, shape);
    context.set_output(2, DType::kF32, shape);
    return;
  }
  std::vector<float> low;
  std::vector<float> high;
  for (const QuantizeV2Range& range : params.ranges) {
    low.push_back(range.low);
    high.push_back(range.high);
  }
  context.set_constant_output(1, Tensor::of<float>(shape, low));
  context.set_constant_output(2, Tensor::of<float>(shape, high));
}

void resolve_quantize_v2(ResolveContext& context) {
  check_float32(context, 0, "input");
  QuantizeV2Params params;
  const std::optional<DType> type = type_attr(context);
  params.rule.mode = mode_attr(context);
  params.rule.half_to_even = half_to_even_attr(context, params.rule.mode);
  params.rule.narrow_range = context.int_attr("narrow_range", 0) != 0;
  params.rule.ensure_minimum_range = minimum_range_attr(context);
  const std::optional<RangeSlices> slices = resolve_slices(context, params.rule.mode);
  if (!type || !slices || context.failed()) return;
  params.rule.type = *type;
  params.slices = *slices;
  params.ranges = constant_ranges(context, params);
  context.set_output(0, *type, context.shape(0));
  set_ends(context, params);
  context.set_params(std::move(params));
}

}  // namespace

RangeMode mode_attr(ResolveContext& context) {
  const std::string text = context.string_attr("mode", "MIN_COMBINED");
  const std::optional<RangeMode> mode = range_mode(text);
  if (!mode) {
    context.attr_error(
        "mode", cat("must be MIN_COMBINED, MIN_FIRST or SCALED, got '", printable(text), "'"));
  }
  return mode.value_or(RangeMode::kMinCombined);
}

std::optional<RangeSlices> resolve_slices(ResolveContext& context, RangeMode mode) {
  const bool floats =
      check_float32(context, 1, "min_range") && check_float32(context, 2, "max_range");
  const Shape& x = context.shape(0);
  const auto rank = static_cast<std::int64_t>(x.size());
  const std::int64_t axis = context.int_attr("axis", -1);
  if (axis < -1 || axis >= rank) {
    context.attr_error(
        "axis", cat("must be -1, or an axis of the input, which has rank ", rank, "; got ", axis));
    return std::nullopt;
  }
  RangeSlices slices;
  if (axis >= 0) {
    slices.axis = static_cast<int>(axis);
    slices.count = x[static_cast<std::size_t>(axis)];
    slices.inner = element_count({x.begin() + axis + 1, x.end()});
  }
  for (const int input : {1, 2}) {
    const Shape& shape = context.shape(input);
    const bool fits = axis < 0 ? element_count(shape) == 1 : shape == Shape{slices.count};
    if (fits) continue;
    context.input_error(
        DiagKind::kShape, input, input == 1 ? "min_range" : "max_range",
        axis < 0 ? cat("must hold one value without an axis, has the shape ", to_string(shape))
                 : cat("must have the shape [", slices.count, "] like the input's axis, got ",
                       to_string(shape)));
    return std::nullopt;
  }
  if (mode == RangeMode::kMinFirst && slices.count != 1) {
    context.error(DiagKind::kUnsupported,
                  "mode MIN_FIRST is not defined for an axis of several "
                  "slices");
    return std::nullopt;
  }
  if (!floats) return std::nullopt;
  return slices;
}

void lower_quantize_v2(Lowering& lowering, const Node& node);

extern const OpDef kOp_quantize_v2 = {
    .folder = "quantize_v2",
    .names = kQuantizeV2Names,
    .arity = {.min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 3},
    .resolve = resolve_quantize_v2,
    .reference = reference_quantize_v2,
    .lower = lower_quantize_v2,
    .elements = pointwise_rule,
    .layout = any_order_rule};

}  // namespace etch
