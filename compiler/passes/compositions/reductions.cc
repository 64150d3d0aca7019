// Reductions and norms:
//   ReduceL1         ReduceSum of Abs
//   ReduceL2         Sqrt of ReduceSum of x * x; of integers in float32, truncated
//   ReduceSumSquare  ReduceSum of x * x
//   ReduceLogSum     Log of ReduceSum
//   ReduceMax, ReduceMin of bool: of the bytes 0 and 1
//   ReduceMean of integers: the sum, which wraps, divided by the number of elements, truncated
//   ReduceLogSumExp  m + Log of ReduceSum of Exp(x - m), m the largest element, 0 where infinite
//   LpNormalization  x / (the norm of p = 1 or 2 along the axis)
//   GlobalLpPool     the norm over all places of a channel: p = 1, 2, or any p > 0 by Pow
//   Hardmax          1 where the element is the first of the largest along the axis, else 0
#include <algorithm>
#include <optional>

#include "compiler/ir/geometry/strided.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

// Which axes go; nothing after a report.
std::optional<Ints> axes_of(Parts& parts, std::size_t rank) {
  Ints axes;
  if (parts.opset() >= 18) {
    if (parts.input(1) != kNoValue && !parts.read(1, "axes", axes)) return std::nullopt;
  } else {
    axes = parts.take<Ints>("axes", {});
    if (parts.has_input(1)) {
      parts.fail(DiagKind::kGraph, "input 1 (axes) is an attribute before operator set 18");
      return std::nullopt;
    }
  }
  const bool noop = parts.opset() >= 18 && parts.take<std::int64_t>("noop_with_empty_axes", 0) != 0;
  if (axes.empty() && !noop) return count_up(rank);
  const auto size = static_cast<std::int64_t>(rank);
  for (std::int64_t& axis : axes) {
    if (axis < -size || axis >= size) {
      parts.fail(DiagKind::kAttr,
                 cat("axes: each must be in [", -size, ", ", size - 1, "], got ", axis));
      return std::nullopt;
    }
    if (axis < 0) axis += size;
  }
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) {
    parts.fail(DiagKind::kAttr, "axes: an axis is listed twice");
    return std::nullopt;
  }
  return axes;
}

ValueId log_sum_exp(Parts& parts, ValueId x, const Ints& axes, bool keep) {
  const ValueId most = parts.reduce("ReduceMax", x, axes);
  // An infinite m would give NaN in place of itself.
  const ValueId bounded = parts.add("Equal", {parts.add("Sub", {most, most}), parts.scalar(0)});
  const ValueId m = parts.add("Where", {bounded, most, parts.scalar(0)});
  const ValueId sum =
      parts.reduce("ReduceSum", parts.add("Exp", {parts.add("Sub", {x, m})}), axes, keep);
  ValueId shift = m;
  if (!keep && !axes.empty()) shift = parts.reduce("ReduceMax", m, axes, false);
  return parts.add("Add", {parts.add("Log", {sum}), shift});
}

ValueId square(Parts& parts, ValueId x) { return parts.add("Mul", {x, x}); }

// The axis reduction of the node of x, whose type is `type`.
ValueId reduced(Parts& parts, ValueId x, DType type, const Ints& axes, bool keep) {
  const std::string& op = parts.op_type();
  if (op == "ReduceLogSumExp") return log_sum_exp(parts, x, axes, keep);
  if (op == "ReduceLogSum") return parts.add("Log", {parts.reduce("ReduceSum", x, axes, keep)});
  if (op == "ReduceL1") return parts.reduce("ReduceSum", parts.add("Abs", {x}), axes, keep);
  if (op == "ReduceSumSquare") return parts.reduce("ReduceSum", square(parts, x), axes, keep);
  const bool is_float = type == DType::kF32;
  const ValueId floats = is_float ? x : parts.cast(x, DType::kF32);
  const ValueId norm =
      parts.add("Sqrt", {parts.reduce("ReduceSum", square(parts, floats), axes, keep)});
  return is_float ? norm : parts.cast(norm, type);
}

void reduction(Parts& parts) {
  const bool logarithmic = parts.op_type().starts_with("ReduceLog");
  if (logarithmic ? !parts.has_type(0, {DType::kF32})
                  : !parts.has_type(0, {DType::kF32, DType::kS32, DType::kS64})) {
    return;
  }
  const bool keep = parts.take<std::int64_t>("keepdims", 1) != 0;
  const auto axes = axes_of(parts, parts.shape(0).size());
  if (axes) parts.give(0, reduced(parts, parts.input(0), parts.dtype(0), *axes, keep));
}

bool is_bool(const Graph& graph, const Node& node) {
  return graph.opset("") >= 20 && first_type(graph, node) == DType::kBool;
}

// Whether any, or all, of them hold.
void any_or_all(Parts& parts) {
  std::vector<ValueId> inputs = {parts.cast(parts.input(0), DType::kU8)};
  if (parts.has_input(1)) inputs.push_back(parts.input(1));
  const char* const type = parts.op_type() == "ReduceMax" ? "ReduceMax" : "ReduceMin";
  parts.cast(parts.add(type, inputs, parts.take_all()), DType::kBool);
}

bool is_of_integers(const Graph& graph, const Node& node) {
  const auto type = first_type(graph, node);
  return type == DType::kS32 || type == DType::kS64;
}

void integer_mean(Parts& parts) {
  const bool keep = parts.take<std::int64_t>("keepdims", 1) != 0;
  const Shape& shape = parts.shape(0);
  const auto axes = axes_of(parts, shape.size());
  if (!axes) return;
  std::int64_t count = 1;
  for (const std::int64_t axis : *axes) count *= shape[as_index(axis)];
  if (count == 0) {
    parts.fail(DiagKind::kShape, "the mean of no elements is not defined");
    return;
  }
  const ValueId sum = parts.reduce("ReduceSum", parts.input(0), *axes, keep);
  parts.add("Div", {sum, parts.number(parts.dtype(0), count)});
}

// (sum of |x|^p)^(1 / p) over `axes`, which stay with size 1.
ValueId norm(Parts& parts, ValueId x, float p, const Ints& axes) {
  if (p == 1.0F) return parts.reduce("ReduceSum", parts.add("Abs", {x}), axes);
  if (p == 2.0F) return parts.add("Sqrt", {parts.reduce("ReduceSum", square(parts, x), axes)});
  const ValueId powers = parts.add("Pow", {parts.add("Abs", {x}), parts.scalar(p)});
  return parts.add("Pow", {parts.reduce("ReduceSum", powers, axes), parts.scalar(1.0F / p)});
}

void lp_normalization(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  const std::int64_t axis = parts.take_axis("axis", -1, parts.shape(0).size());
  const auto p = parts.take<std::int64_t>("p", 2);
  if (p != 1 && p != 2) parts.fail(DiagKind::kAttr, cat("p: must be 1 or 2, got ", p));
  if (parts.failed()) return;
  const ValueId length = norm(parts, parts.input(0), static_cast<float>(p), {axis});
  // As ONNX Runtime has it: what is all zeros stays so.
  const ValueId zero = parts.add("Equal", {length, parts.scalar(0)});
  const ValueId divisor = parts.add("Where", {zero, parts.scalar(1), length});
  parts.add("Div", {parts.input(0), divisor});
}

void global_lp_pool(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  const auto p = parts.take<std::int64_t>("p", 2);
  if (p < 1) parts.fail(DiagKind::kAttr, cat("p: must be at least 1, got ", p));
  if (parts.shape(0).size() < 3)
    parts.fail(DiagKind::kShape, "input 0 must have batch, channels and places");
  if (parts.failed()) return;
  Ints axes = count_up(parts.shape(0).size());
  axes.erase(axes.begin(), axes.begin() + 2);
  parts.give(0, norm(parts, parts.input(0), static_cast<float>(p), axes));
}

void hardmax(Parts& parts) {
  if (!parts.has_type(0, {DType::kF32})) return;
  const Shape& shape = parts.shape(0);
  std::int64_t axis = parts.take_axis("axis", parts.opset() < 13 ? 1 : -1, shape.size());
  if (axis < 0) return;
  ValueId x = parts.input(0);
  Shape rows = shape;
  if (parts.opset() < 13) {  // everything from the axis on is one row
    const auto split = shape.begin() + axis;
    rows = {element_count(Shape(shape.begin(), split)), element_count(Shape(split, shape.end()))};
    x = parts.reshape(x, rows);
    axis = 1;
  }
  const auto at = static_cast<std::size_t>(axis);
  const ValueId best = parts.add("ArgMax", {x}, {{"axis", axis}, {"keepdims", std::int64_t{1}}});
  const Ints places = count_up(static_cast<std::size_t>(rows[at]));
  const ValueId all = parts.ints(along(rows.size(), at, rows[at]), places);
  const ValueId y = parts.cast(parts.add("Equal", {best, all}), DType::kF32);
  if (parts.opset() < 13) parts.reshape(y, shape);
}

constexpr Rule kReductionRules[] = {{"ReduceL1", reduction, 2},
                                    {"ReduceL2", reduction, 2},
                                    {"ReduceLogSum", reduction, 2},
                                    {"ReduceLogSumExp", reduction, 2},
                                    {"ReduceSumSquare", reduction, 2},
                                    {"ReduceMean", integer_mean, 2, 1, 1, is_of_integers},
                                    {"ReduceMax", any_or_all, 2, 1, 20, is_bool},
                                    {"ReduceMin", any_or_all, 2, 1, 20, is_bool},
                                    {"LpNormalization", lp_normalization, 1},
                                    {"GlobalLpPool", global_lp_pool, 1, 1, 2},
                                    {"Hardmax", hardmax, 1}};
}  // namespace

std::span<const Rule> reduction_rules() { return kReductionRules; }

}  // namespace etch
