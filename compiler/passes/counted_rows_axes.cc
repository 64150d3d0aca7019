// Operators that treat each row alone, and along which axis of their results the rows are counted;
// see counted_rows.h. Whatever is not sure to treat each row alone has no such axis.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/counted_rows.h"

namespace etch {

namespace {
bool is_reduction(const Node& node) {
  return is_one_of(node.op_type,
                   {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                    "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"});
}

// Of the operators that treat each element alone, those whose result has the axes of input 0:
// limits and scales of one element may have more of them.
bool has_axes_of_first(const Node& node) {
  return is_one_of(node.op_type, {"BatchNormalization", "Clip", "Dequantize", "DequantizeLinear",
                                  "PRelu", "QuantizeLinear", "QuantizeV2"});
}
}  // namespace

std::optional<std::size_t> CountedRows::pointwise_axis(const Node& node) const {
  const bool by_first = has_axes_of_first(node);
  if (by_first && rows_of(node, 0) == nullptr) return std::nullopt;
  const Rows* first = nullptr;
  std::size_t end = 0, rank = 0;  // axes from the last one back
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    if (i == 0 || !by_first) rank = std::max(rank, shape(node, i).size());
    const Rows* const rows = rows_of(node.inputs[i]);
    if (rows == nullptr) continue;
    const std::size_t at = shape(node, i).size() - rows->axis;
    if (first != nullptr && (at != end || rows->source != first->source)) return std::nullopt;
    first = rows;
    end = at;
  }
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue || rows_of(node.inputs[i]) != nullptr) continue;
    const Shape& each = shape(node, i);
    if (each.size() >= end && each[each.size() - end] != 1) return std::nullopt;
  }
  return rank - end;
}

std::optional<std::size_t> CountedRows::gathered_axis(const Node& node, const Rows& rows) const {
  const Rows* const data = rows_of(node, 0);
  const Rows* const indices = rows_of(node, 1);
  if (data != nullptr && indices != nullptr) return std::nullopt;
  if (node.op_type == "GatherND") {
    const bool by_rows = indices != nullptr && int_attribute(node, "batch_dims", 0) == 0 &&
                         rows.axis + 1 < shape(node, 1).size();
    return by_rows ? std::optional(rows.axis) : std::nullopt;
  }
  const std::size_t axis = from_start(int_attribute(node, "axis", 0), shape(node, 0).size());
  if (indices != nullptr) return axis + rows.axis;
  if (axis == rows.axis) return std::nullopt;
  return rows.axis < axis ? rows.axis : rows.axis + shape(node, 1).size() - 1;
}

// The one size that Reshape or Flatten does not state but takes from the number of rows, where as
// many elements are before it as before the rows, which so stay in order. A list of sizes has the
// most rows that there can be in place of their number.
std::optional<CountedRows::Place> CountedRows::place_of_rows(const Node& node,
                                                             const Rows& rows) const {
  const Shape& from = shape(node, 0);
  const std::int64_t count = element_count(from);
  const auto product = [&](auto begin, auto end) {
    std::int64_t out = 1;
    for (; begin != end && std::abs(out) <= count; ++begin) out *= *begin;
    return out;
  };
  Shape to;
  std::size_t open = from.size();
  if (node.op_type == "Flatten") {
    const std::size_t axis = from_start(int_attribute(node, "axis", 1), from.size());
    if (axis > from.size()) return std::nullopt;
    const auto split = from.begin() + static_cast<std::ptrdiff_t>(axis);
    to = {product(from.begin(), split), product(split, from.end())};
    open = rows.axis < axis ? 0 : 1;
  } else {
    const Rows* const size = node.inputs.size() > 1 ? size_of(node.inputs[1]) : nullptr;
    const Tensor* const list =
        size == nullptr ? constant(node, 1) : graph_.value(node.inputs[1]).constant.get();
    if (list == nullptr || int_attribute(node, "allowzero", 0) != 0) return std::nullopt;
    to = list->integers();
    if (std::ranges::any_of(to, [&](std::int64_t each) { return each < -1 || each > count; }))
      return std::nullopt;
    const bool copies = rows.axis < to.size() && to[rows.axis] == 0;
    const auto rest = static_cast<std::size_t>(std::ranges::find(to, -1) - to.begin());
    open = size != nullptr ? size->axis : copies ? rows.axis : rest;
    for (std::size_t d = 0; d < to.size(); ++d) {
      if (to[d] == 0 && d < from.size()) to[d] = from[d];
    }
    const std::int64_t known = product(to.begin(), to.end());
    for (std::int64_t& each : to) {
      if (each == -1) each = known == 0 ? 0 : -count / known;
    }
  }
  const auto before = [](const Shape& of, std::size_t axis) {
    return Shape(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(axis));
  };
  const bool fits = open < to.size() && count > 0 && element_count(to) == count &&
                    element_count(before(to, open)) == element_count(before(from, rows.axis));
  return fits ? std::optional(Place{open, to}) : std::nullopt;
}

std::optional<std::size_t> CountedRows::reshaped_axis(const Node& node, const Rows& rows) const {
  const auto place = place_of_rows(node, rows);
  return place && place->size() == rows.most ? std::optional(place->axis) : std::nullopt;
}

// The axis of what a node makes in the size that its input i says; none: it reads the number.
std::optional<std::size_t> CountedRows::sized_axis(const Node& node, std::size_t i,
                                                   const Rows& rows) const {
  const Rows* const data = rows_of(node, 0);
  if (node.op_type == "ConstantOfShape") return rows.axis;
  if (node.op_type == "Range") {
    const auto is = [&](std::size_t k, std::int64_t value) {
      const Tensor* const number = constant(node, k);
      return number != nullptr && number->size() == 1 && number->integer(0) == value;
    };
    return i == 1 && is(0, 0) && is(2, 1) ? std::optional<std::size_t>(0) : std::nullopt;
  }
  if (i != 1 || (data != nullptr && data->source != rows.source)) return std::nullopt;
  if (node.op_type == "Reshape") {
    // Rows that do not count have to stay after the others.
    const bool fits = data != nullptr && graph_.value(node.inputs[1]).constant != nullptr &&
                      reshaped_axis(node, *data) == rows.axis;
    return fits ? std::optional(rows.axis) : std::nullopt;
  }
  if (node.op_type != "Expand") return std::nullopt;
  const Shape& from = shape(node, 0);
  const auto ends = static_cast<std::size_t>(element_count(shape(node, 1)));
  const std::size_t rank = std::max(ends, from.size());
  const std::size_t axis = rank - ends + rows.axis, added = rank - from.size();
  const bool repeats = axis < added || from[axis - added] == 1;  // else its rows are counted
  if (data == nullptr) return repeats ? std::optional(axis) : std::nullopt;
  return data->axis + added == axis ? std::optional(axis) : std::nullopt;
}

// Whether the axes of a reduction are known, as axes_of() takes for granted.
bool CountedRows::knows_axes(const Node& node) const {
  const bool given = node.inputs.size() > 1 && node.inputs[1] != kNoValue;
  return !given || constant(node, 1) != nullptr;
}

// The axes that a reduction, or Squeeze or Unsqueeze, names; those of Unsqueeze are its result's.
std::set<std::size_t> CountedRows::axes_of(const Node& node) const {
  std::vector<std::int64_t> axes;
  const auto found = node.attributes.find("axes");
  if (found != node.attributes.end()) {
    if (const auto* const list = std::get_if<std::vector<std::int64_t>>(&found->second))
      axes = *list;
  } else if (const Tensor* const list = constant(node, 1)) {
    axes = list->integers();
  }
  const bool adds = node.op_type == "Unsqueeze";
  const std::size_t rank = shape(node, 0).size() + (adds ? axes.size() : 0);
  std::set<std::size_t> out;
  for (const std::int64_t axis : axes) out.insert(from_start(axis, rank));
  if (axes.empty() && int_attribute(node, "noop_with_empty_axes", 0) == 0) {
    for (std::size_t d = 0; d < rank; ++d) {
      if (is_reduction(node) || shape(node, 0)[d] == 1) out.insert(d);
    }
  }
  return out;
}

std::optional<std::size_t> CountedRows::reduced_axis(const Node& node, const Rows& rows) const {
  std::set<std::size_t> axes;
  bool keeps = int_attribute(node, "keepdims", 1) != 0;
  if (is_one_of(node.op_type, {"ArgMax", "ArgMin"})) {
    axes = {from_start(int_attribute(node, "axis", 0), shape(node, 0).size())};
  } else {
    axes = axes_of(node);
    keeps = keeps && node.op_type != "Squeeze";
  }
  if (axes.contains(rows.axis)) return std::nullopt;
  const auto gone = std::ranges::count_if(axes, [&](std::size_t d) { return d < rows.axis; });
  return keeps ? rows.axis : rows.axis - static_cast<std::size_t>(gone);
}

std::optional<std::size_t> CountedRows::carried_axis(const Node& node, const Rows& rows) const {
  const std::string& op = node.op_type;
  const bool only_first =
      rows_of(node, 0) != nullptr &&
      std::ranges::count_if(node.inputs, [&](ValueId id) { return rows_of(id) != nullptr; }) == 1;
  const std::size_t rank = shape(node, 0).size();
  if (int_attribute(node, "training_mode", 0) != 0) return std::nullopt;  // statistics of all rows
  if (node.op != nullptr && node.op->elements == pointwise_rule) return pointwise_axis(node);
  if (is_one_of(op, {"Gather", "GatherND"})) return gathered_axis(node, rows);
  if (op == "Concat") {
    const std::size_t axis = from_start(int_attribute(node, "axis", 0), rank);
    const bool all = std::ranges::all_of(node.inputs, [&](ValueId id) {
      const Rows* const each = rows_of(id);
      return each != nullptr && each->axis == rows.axis && each->source == rows.source;
    });
    return all && axis != rows.axis ? std::optional(rows.axis) : std::nullopt;
  }
  if (!only_first) return std::nullopt;
  if (op == "Identity") return rows.axis;
  if (op == "Transpose") {
    const auto perm = node.attributes.find("perm");
    if (perm == node.attributes.end()) return rank - 1 - rows.axis;
    const auto* const list = std::get_if<std::vector<std::int64_t>>(&perm->second);
    if (list == nullptr) return std::nullopt;
    const auto at = std::ranges::find(*list, static_cast<std::int64_t>(rows.axis));
    return static_cast<std::size_t>(at - list->begin());
  }
  if (is_one_of(op, {"Reshape", "Flatten"})) return reshaped_axis(node, rows);
  if (op == "Unsqueeze") {
    std::size_t out = rows.axis;
    for (const std::size_t axis : axes_of(node)) out += axis <= out ? 1 : 0;
    return out;
  }
  // Without axes a single row would lose its axis.
  if (op == "Squeeze" && !node.attributes.contains("axes") && constant(node, 1) == nullptr)
    return std::nullopt;
  if (is_reduction(node) || is_one_of(op, {"Squeeze", "ArgMax", "ArgMin"}))
    return reduced_axis(node, rows);
  if (op == "Gemm") {
    const bool by_rows = rows.axis == 0 && int_attribute(node, "transA", 0) == 0 &&
                         (node.inputs.size() < 3 || node.inputs[2] == kNoValue ||
                          shape(node, 2).size() < 2 || shape(node, 2)[0] == 1);
    return by_rows ? std::optional<std::size_t>(0) : std::nullopt;
  }
  if (is_one_of(op, {"MatMul", "MatMulInteger"}))
    return rows.axis + 2 == rank && shape(node, 1).size() == 2 ? std::optional(rows.axis)
                                                               : std::nullopt;
  std::size_t axis = rank;  // the one along which these are not by rows
  if (is_one_of(op, {"Softmax", "LogSoftmax"}) && graph_.opset("") >= 13)
    axis = from_start(int_attribute(node, "axis", -1), rank);
  if (op == "Split") axis = from_start(int_attribute(node, "axis", 0), rank);
  if (op == "Expand") {
    const Tensor* const list = constant(node, 1);
    const auto ends = list == nullptr ? rank + 1 : static_cast<std::size_t>(list->size());
    if (ends > rank || (rows.axis + ends >= rank &&
                        list->integer(static_cast<std::int64_t>(rows.axis + ends - rank)) != 1))
      return std::nullopt;
    return rows.axis;
  }
  if (op == "LayerNormalization")
    return from_start(int_attribute(node, "axis", -1), rank) > rows.axis ? std::optional(rows.axis)
                                                                         : std::nullopt;
  if (op == "Slice") {
    const Tensor* const axes = constant(node, 3);
    if (axes == nullptr || constant(node, 1) == nullptr || constant(node, 2) == nullptr)
      return std::nullopt;
    const bool others = std::ranges::all_of(
        axes->integers(), [&](std::int64_t each) { return from_start(each, rank) != rows.axis; });
    return others ? std::optional(rows.axis) : std::nullopt;
  }
  return axis < rank && axis != rows.axis ? std::optional(rows.axis) : std::nullopt;
}

bool CountedRows::carries(const Node& node) {
  const bool is_pointwise = node.op != nullptr && node.op->elements == pointwise_rule;
  if (!node.domain.empty() && !is_pointwise) return false;
  const auto given = std::ranges::find_if(node.inputs, [&](ValueId id) { return rows_of(id); });
  const Rows rows = *rows_of(*given);
  const auto axis = carried_axis(node, rows);
  if (!axis) return false;
  for (const ValueId id : node.outputs) mark(id, *axis, rows);
  return true;
}

}  // namespace etch
