// Quantization with arguments; see scales.h.
#include "compiler/kernels/quantize/scales.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/quantization.h"
#include "compiler/ir/reciprocals.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/rows/expression.h"
#include "compiler/lower/arguments.h"

namespace etch {

namespace {

using AxisSteps = std::vector<std::int64_t>;

// `list` with the entry at `axis` replaced by two.
AxisSteps split(AxisSteps list, std::int64_t axis, std::int64_t outer, std::int64_t inner) {
  const auto at = static_cast<std::size_t>(axis);
  list[at] = inner;
  list.insert(list.begin() + axis, outer);
  return list;
}

// Steps of a scale or zero point against x's shape: along the axis, or nowhere.
AxisSteps parameter_steps(const Input& parameter, const QuantizationAxis& axis,
                          const Shape& shape) {
  AxisSteps out(shape.size(), 0);
  if (axis.granularity == QuantizationGranularity::kTensor) return out;
  out[static_cast<std::size_t>(axis.axis)] = parameter.parameter_step();
  return out;
}

struct Operands {
  AxisSteps x, scale, zero_point, y;
};

// Nests for indices [first, first + count) of the axis, `block` of which share an entry.
RowNest blocks_nest(const Shape& shape, const Operands& o, std::int64_t axis, std::int64_t first,
                    std::int64_t blocks, std::int64_t block, std::int64_t entry) {
  const auto at = static_cast<std::size_t>(axis);
  const auto part = [&](const AxisSteps& s) { return split(s, axis, s[at] * block, s[at]); };
  const auto repeated = [&](const AxisSteps& s) { return split(s, axis, s[at], 0); };
  RowNest nest = make_rows(split(shape, axis, blocks, block),
                           {part(o.x), repeated(o.scale), repeated(o.zero_point), part(o.y)});
  nest.start = {first * o.x[at], entry * o.scale[at], entry * o.zero_point[at], first * o.y[at]};
  return nest;
}

std::vector<RowNest> nests_of(const Shape& shape, const QuantizationAxis& axis, const Input& scale,
                              const Input& zero_point, AxisSteps x, AxisSteps y) {
  Operands o{std::move(x), {}, {}, std::move(y)};
  if (axis.granularity != QuantizationGranularity::kBlock) {
    o.scale = parameter_steps(scale, axis, shape);
    o.zero_point = parameter_steps(zero_point, axis, shape);
    return {make_rows(shape, {o.x, o.scale, o.zero_point, o.y})};
  }
  o.scale = steps_of(scale.view);
  o.zero_point =
      zero_point.argument.elements == 1 ? AxisSteps(shape.size(), 0) : steps_of(zero_point.view);
  const std::int64_t block = std::min(axis.block, axis.size);
  const std::int64_t full = axis.size / block;
  const std::int64_t rest = axis.size % block;
  std::vector<RowNest> nests{blocks_nest(shape, o, axis.axis, 0, full, block, 0)};
  if (rest > 0) {
    nests.push_back(blocks_nest(shape, o, axis.axis, full * block, 1, rest, full));
  }
  return nests;
}

DType kept_as(DType type) { return is_8bit(type) ? DType::kU8 : type; }

bool has_kernel(DType type) { return is_8bit(type) || type == DType::kU16 || type == DType::kS16; }

rt::Range range_of(DType type) {
  return {static_cast<std::int32_t>(min_of(type)), static_cast<std::int32_t>(max_of(type))};
}

const char* granularity_text(QuantizationGranularity granularity) {
  switch (granularity) {
    case QuantizationGranularity::kTensor:
      return "one scale";
    case QuantizationGranularity::kAxis:
      return "a scale per channel";
    case QuantizationGranularity::kBlock:
      break;
  }
  return "a scale per block";
}

// The zero point of input 2 of `node` where one step of vectors can take it: absent, constant, or
// one uint8 known at run time.
bool is_known_or_single(Lowering& lowering, const Node& node) {
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue || lowering.is_constant(node, 2))
    return true;
  const Value& value = lowering.value(node.inputs[2]);
  return *value.dtype == DType::kU8 && element_count(*value.shape) == 1;
}

// The axis of a parameter; -1 per tensor.
std::int64_t parameter_axis(const QuantizationAxis& axis) {
  return axis.granularity == QuantizationGranularity::kTensor ? -1 : axis.axis;
}

bool has_zero_point(const Node& node) {
  return node.inputs.size() > 2 && node.inputs[2] != kNoValue;
}

// What x is multiplied by instead of a division, if all scales are constants that allow it:
// divisions take 14 cycles on Cortex-M4.
std::optional<Tensor> factors_of(Lowering& lowering, const Node& node) {
  if (!lowering.is_constant(node, 1)) return std::nullopt;
  return exact_reciprocals(lowering.constant(node, 1));
}

// x / scale.
int scaled(ExpressionBuilder& builder, int x, const std::optional<Tensor>& factors,
           std::int64_t axis) {
  if (factors) return builder.apply(ExpressionValue::Kind::kMul, x, builder.vector(*factors, axis));
  return builder.apply(ExpressionValue::Kind::kDiv, x, builder.parameter(1, axis));
}

// In vectors, where all zero points are one; false if they are not.
bool quantize_in_vectors(Lowering& lowering, const Node& node, const QuantizationAxis& axis,
                         DType type) {
  const bool fits = is_8bit(type) && axis.granularity != QuantizationGranularity::kBlock &&
                    is_known_or_single(lowering, node);
  if (!fits) return false;
  const bool late = has_zero_point(node) && !lowering.is_constant(node, 2);
  const std::vector<int> zero_points =
      zero_points_of(has_zero_point(node) && !late ? &lowering.constant(node, 2) : nullptr);
  if (std::ranges::count(zero_points, zero_points[0]) != std::ssize(zero_points)) return false;
  ExpressionBuilder builder(lowering, node);
  const int quotient =
      scaled(builder, builder.input(0), factors_of(lowering, node), parameter_axis(axis));
  const int rounded = late ? builder.rounded_with(quotient, builder.parameter(2, -1))
                           : builder.rounded(quotient, type, zero_points[0]);
  builder.finish(rounded, late ? 0 : zero_points[0], "quantize",
                 cat("quantize to ", name_of(type), ": ", granularity_text(axis.granularity)));
  return true;
}

bool dequantize_in_vectors(Lowering& lowering, const Node& node, const QuantizationAxis& axis,
                           DType type) {
  const bool fits = is_8bit(type) && axis.granularity != QuantizationGranularity::kBlock &&
                    is_known_or_single(lowering, node);
  if (!fits) return false;
  ExpressionBuilder builder(lowering, node);
  const int x = builder.input(0);
  const int scale = builder.parameter(1, parameter_axis(axis));
  const int zero_point = has_zero_point(node) ? builder.parameter(2, parameter_axis(axis))
                                              : builder.integer(type == DType::kS8 ? 128 : 0);
  builder.finish(builder.dequantized(x, scale, zero_point), {}, "dequantize",
                 cat("dequantize ", name_of(type), ": ", granularity_text(axis.granularity)));
  return true;
}

// Row after row, each with its scale and zero point.
template <class RowsStep>
void add_rows(Lowering& lowering, const Node& node, const QuantizationAxis& axis, DType type) {
  constexpr bool kQuantizes = std::is_same_v<RowsStep, QuantizeRowsStep>;
  auto step = std::make_unique<RowsStep>();
  step->kind = kQuantizes ? "quantize" : "dequantize";
  step->summary = cat(kQuantizes ? "quantize to " : "dequantize ", name_of(type), ": ",
                      granularity_text(axis.granularity));
  StepArguments arguments(lowering, node, *step);
  const Input x = arguments.input(0, "x");
  const std::optional<Tensor> factors = kQuantizes ? factors_of(lowering, node) : std::nullopt;
  const Input scale = factors ? arguments.data(*factors, "factor", "1 / scale, exactly")
                              : arguments.parameter(1, "scale");
  const Input zero_point = arguments.parameter(2, "zero_point", type);
  const View y = lowering.new_output(node, 0, order_like(x.view));
  ScalePlan& plan = step->plan;
  plan.by_factors = factors.has_value();
  plan.type = kept_as(type);
  plan.x = x.argument;
  plan.scale = scale.argument;
  plan.zero_point = zero_point.argument;
  plan.y = arguments.output("y", y);
  if (kQuantizes) {
    plan.y_as = stored_as(y);
    plan.range = range_of(type);
  }
  plan.parts = nests_of(y.shape, axis, scale, zero_point, steps_of(x.view), steps_of(y));
  arguments.add(std::move(step));
}

}  // namespace

void add_quantization(Lowering& lowering, const Node& node, const QuantizationAxis& axis,
                      DType type) {
  if (refuse_empty(lowering, node)) return;
  if (!has_kernel(type)) {
    lowering.unsupported(node, cat("quantization to ", name_of(type), " cannot be compiled yet"));
    return;
  }
  if (!quantize_in_vectors(lowering, node, axis, type))
    add_rows<QuantizeRowsStep>(lowering, node, axis, type);
}

void add_dequantization(Lowering& lowering, const Node& node, const QuantizationAxis& axis) {
  if (refuse_empty(lowering, node)) return;
  const DType type = *lowering.value(node.inputs[0]).dtype;
  if (!has_kernel(type) && type != DType::kS32) {
    lowering.unsupported(node, cat("dequantization of ", name_of(type), " cannot be compiled yet"));
    return;
  }
  if (!dequantize_in_vectors(lowering, node, axis, type))
    add_rows<DequantizeRowsStep>(lowering, node, axis, type);
}

void add_dynamic_quantization(Lowering& lowering, const Node& node, const View& scale,
                              const View& zero_point) {
  ExpressionBuilder builder(lowering, node);
  const int x = builder.input(0);
  const int quotient = builder.apply(ExpressionValue::Kind::kDiv, x, builder.single(scale));
  const int rounded = builder.rounded_with(quotient, builder.single(zero_point));
  builder.finish(rounded, 0, "quantize",
                 "quantize to uint8 with the scale and zero point just found");
}

}  // namespace etch
