// Lowering of QuantizeV2: the vector kernel for 8 bits and constant ranges, else the runtime.
#include "compiler/ops/quantize_v2/lower.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/lower/nest.h"
#include "compiler/program/constants.h"

namespace etch {

namespace {

constexpr float kBeyondBytes = 1024;  // further than 255 steps and a rounded end can reach

// One index of `axis` of `view`.
View slice_of(const View& view, int axis) {
  View out = view;
  if (axis >= 0) out.shape[static_cast<std::size_t>(axis)] = 1;
  return out;
}

// Elements between slices.
std::int64_t distance(const View& view, int axis) {
  return axis < 0 ? 0 : view.stride[static_cast<std::size_t>(axis)] / bytes_of(view.dtype);
}

std::string rule_text(const QuantizeV2Rule& rule) {
  return cat(name_of(rule.mode), rule.half_to_even ? ", HALF_TO_EVEN" : "",
             rule.narrow_range ? ", narrow range" : "", " to ", tensorflow_name(rule.type));
}

// ---- the vector kernel ----

// Whether clamping after scaling is the same as before: the products of the range's ends must
// become the least and the greatest value.
bool ends_are_exact(const QuantizeV2Range& range, const QuantizeV2Rule& rule) {
  if (rule.mode == RangeMode::kMinFirst) {
    return range.rounded_low > -kBeyondBytes / 2 && range.rounded_low <= 0;
  }
  if (rule.mode == RangeMode::kScaled) {
    const auto most = static_cast<float>(max_of(rule.type));
    const auto least = static_cast<float>(least_of(rule));
    return std::fabs(range.low * range.scale - least) < 0.25F &&
           std::fabs(range.high * range.scale - most) < 0.25F;
  }
  const float steps = (range.high - range.low) * range.scale;
  return std::fabs(steps - 255.0F) < 0.25F;
}

// With greater factors subnormal elements, which count as 0, could come near 1/2.
constexpr float kMostScale = 1e37F;

bool suits_vectors(const QuantizeV2Params& params) {
  return is_8bit(params.rule.type) && !params.ranges.empty() &&
         std::all_of(params.ranges.begin(), params.ranges.end(), [&](const QuantizeV2Range& range) {
           return range.scale < kMostScale && ends_are_exact(range, params.rule);
         });
}

void plan_mode(QuantizeV2Plan& plan, const QuantizeV2Params& params, int stored_offset) {
  const QuantizeV2Rule& rule = params.rule;
  plan.has_offset = rule.mode == RangeMode::kMinCombined;
  for (const QuantizeV2Range& range : params.ranges) {
    plan.scale.push_back(range.scale);
    if (plan.has_offset) plan.offset.push_back(-range.low);
  }
  plan.zero_point = stored_offset;
  switch (rule.mode) {
    case RangeMode::kMinCombined:
      plan.low = 0;
      plan.high = 255;
      plan.after = is_signed(rule.type) ? -128.0F : 0.0F;
      plan.rounding = is_signed(rule.type) ? RangeRounding::kHalfAway : RangeRounding::kHalfUp;
      return;
    case RangeMode::kMinFirst:
      plan.low = -kBeyondBytes;
      plan.high = kBeyondBytes;
      plan.zero_point +=
          static_cast<int>(min_of(rule.type)) - static_cast<int>(params.ranges[0].rounded_low);
      return;
    case RangeMode::kScaled:
      plan.low = static_cast<float>(least_of(rule));
      plan.high = static_cast<float>(max_of(rule.type));
      if (rule.half_to_even) plan.rounding = RangeRounding::kHalfEven;
      return;
  }
}

// Slices along the run: a nest over all of it, whose operand 1 counts slices.
bool plan_along(SlicedPlan& plan, const RangeSlices& slices, const View& x, const View& y) {
  if (slices.count == 1) return false;
  View of_slice = x;
  std::fill(of_slice.stride.begin(), of_slice.stride.end(), 0);
  of_slice.dtype = DType::kF32;
  of_slice.stride[static_cast<std::size_t>(slices.axis)] = bytes_of(DType::kF32);
  const View* const views[] = {&x, &of_slice, &y};
  const Nest nest = make_nest(views);
  if (nest.run != slices.count) return false;
  plan.nest = nest;
  plan.along = true;
  return true;
}

void lower_to_vectors(Lowering& lowering, const Node& node, const View& x, const View& y) {
  const auto& params = params_of<QuantizeV2Params>(node);
  auto step = std::make_unique<QuantizeV2Step>();
  step->kind = "quantize";
  plan_vectors(step->plan, params.slices, x, y);
  plan_mode(step->plan, params, lowering.stored_offset(y));
  add_slice_constants(*step, step->plan, lowering.isa().lanes,
                      "minus the least real value of each slice");
  step->summary = cat("QuantizeV2 ", rule_text(params.rule));
  const QuantizeV2Range& first = params.ranges.front();
  step->facts.push_back(cat(params.ranges.size() > 1 ? "first range " : "range ",
                            decimal(first.low), " to ", decimal(first.high), ", factor ",
                            decimal(first.scale)));
  lowering.add(node, std::move(step), {{"x", &x}, {"y", &y}});
}

// ---- the runtime ----

void lower_to_runtime(Lowering& lowering, const Node& node, const View& y) {
  const auto& params = params_of<QuantizeV2Params>(node);
  auto step = std::make_unique<QuantizeRangeStep>();
  step->kind = "quantize";
  step->summary = cat("QuantizeV2 ", rule_text(params.rule));
  StepArguments arguments(lowering, node, *step);
  plan_rule(step->plan, params.rule);
  plan_rows(step->plan, params.slices, arguments, y);
  step->plan.quantized = element_of(params.rule.type);
  arguments.add(std::move(step));
}

// output_min and output_max of ranges that are known at run time.
void lower_end(Lowering& lowering, const Node& node, int end) {
  const std::size_t output = static_cast<std::size_t>(end) + 1;
  if (output >= node.outputs.size() || node.outputs[output] == kNoValue) return;
  const auto& params = params_of<QuantizeV2Params>(node);
  const auto rank = static_cast<int>(lowering.value(node.outputs[output]).shape->size());
  const View out = lowering.new_output(node, end + 1, row_major(rank));
  auto step = std::make_unique<RangeEndStep>();
  step->kind = end == 0 ? "range_min" : "range_max";
  step->summary = cat("the range that QuantizeV2 uses: its ", end == 0 ? "lower" : "upper", " end");
  StepArguments arguments(lowering, node, *step);
  step->plan.end = end;
  step->plan.slices = static_cast<int>(params.slices.count);
  plan_rule(step->plan.range, params.rule);
  step->plan.range.min = arguments.parameter(1, "min").argument;
  step->plan.range.max = arguments.parameter(2, "max").argument;
  step->plan.range.y = arguments.output("y", out);
  arguments.add(std::move(step));
}

}  // namespace

RangeElement element_of(DType quantized) {
  if (quantized == DType::kS16) return RangeElement::kS16;
  if (quantized == DType::kU16) return RangeElement::kU16;
  return quantized == DType::kS32 ? RangeElement::kS32 : RangeElement::kByte;
}

void plan_rule(RangePlan& plan, const QuantizeV2Rule& rule) {
  plan.mode = static_cast<int>(rule.mode);
  plan.half_even = rule.half_to_even ? 1 : 0;
  plan.least = static_cast<int>(least_of(rule));
  plan.most = static_cast<int>(max_of(rule.type));
  plan.ensure_minimum_range = rule.ensure_minimum_range;
}

void plan_vectors(SlicedPlan& plan, const RangeSlices& slices, const View& x, const View& y) {
  if (plan_along(plan, slices, x, y)) return;
  const int axis = slices.count == 1 ? -1 : slices.axis;
  const View one_x = slice_of(x, axis);
  const View one_y = slice_of(y, axis);
  const View* const views[] = {&one_x, &one_y};
  plan.nest = make_nest(views);
  plan.slices = static_cast<int>(slices.count);
  plan.x_step = distance(x, axis);
  plan.y_step = distance(y, axis);
}

void add_slice_constants(Step& step, const SlicedPlan& plan, int lanes,
                         const char* offset_comment) {
  const auto add = [&](const char* name, const std::vector<float>& values, const char* comment) {
    if (values.size() > 1) {
      step.constants.push_back(
          float_array(name, slice_vectors(values, plan.along, lanes), comment));
    }
  };
  add("scale", plan.scale, "factor of each slice");
  add("offset", plan.offset, offset_comment);
}

void plan_rows(RangePlan& plan, const RangeSlices& slices, StepArguments& arguments,
               const View& y) {
  const Input x = arguments.input(0, "x");
  plan.x = x.argument;
  plan.min = arguments.parameter(1, "min").argument;
  plan.max = arguments.parameter(2, "max").argument;
  plan.y = arguments.output("y", y);
  std::vector<std::int64_t> ends(y.shape.size(), 0);
  if (slices.count != 1) ends[static_cast<std::size_t>(slices.axis)] = 1;
  plan.rows = make_rows(y.shape, {x.steps(y.shape), ends, ends, steps_of(y)});
}

void lower_quantize_v2(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QuantizeV2Params>(node);
  const auto rank = static_cast<int>(lowering.value(node.outputs[0]).shape->size());
  const bool in_memory = !lowering.is_constant(node, 0);
  const Order order = in_memory ? order_like(lowering.view(node, 0)) : row_major(rank);
  const View y = lowering.new_output(node, 0, order);
  if (in_memory && suits_vectors(params)) {
    lower_to_vectors(lowering, node, lowering.view(node, 0), y);
  } else {
    lower_to_runtime(lowering, node, y);
  }
  if (params.ranges.empty()) {
    lower_end(lowering, node, 0);
    lower_end(lowering, node, 1);
  }
}

}  // namespace etch
