// What has as many rows as values say; see counted_rows.h. Unique is in counted_rows_unique.cc.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/op_def.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/compositions/indices.h"
#include "compiler/passes/compositions/parts.h"
#include "compiler/passes/counted_rows.h"

namespace etch {

namespace {

constexpr std::int64_t kMostStep = 1 << 20;  // either way

bool may_be_step(std::int64_t step) { return step != 0 && step >= -kMostStep && step <= kMostStep; }

// passes/fixed_boxes serves those.
bool has_declared_rows(const Value& boxes) {
  return boxes.shape && !boxes.shape->empty() && boxes.shape->front() > 0;
}

// The file knows how many rows that output has, so it knows what decides it: `--constant` says it.
bool is_output_of_fixed_size(const Graph& graph, ValueId id) {
  const std::optional<Shape>& declared = graph.value(id).shape;
  const auto is_fixed = [](std::int64_t size) { return size >= 0; };
  return declared && std::ranges::all_of(*declared, is_fixed) &&
         std::ranges::find(graph.outputs, id) != graph.outputs.end();
}

// The positions of the true elements of `flags` [n], then zeros; `count`: how many there are.
ValueId true_positions(Parts& parts, ValueId flags, std::int64_t n, ValueId& count) {
  const ValueId ones = parts.cast(flags, DType::kS64);
  count = parts.reduce("ReduceSum", ones, {0}, false);
  const ValueId sums = parts.add("CumSum", {ones, parts.number(DType::kS64, 0)});
  const ValueId place = parts.add("Sub", {sums, parts.number(DType::kS64, 1)});
  const ValueId at = parts.add("Where", {flags, place, parts.number(DType::kS64, n)});
  const ValueId nothing = parts.constant(Tensor(DType::kS64, {n + 1, 1}));
  const ValueId numbers = parts.positions(DType::kS64, 0, n, {n, 1});
  const ValueId found = scattered(parts, DType::kS64, nothing, at, numbers, "none");
  return parts.reshape(parts.slice(found, 0, 0, n), {n});
}

// A position in an axis of `size`, counted from 0 and limited to [least, most]: [1].
ValueId position(Parts& parts, std::size_t i, std::int64_t size, std::int64_t least,
                 std::int64_t most) {
  ValueId x = parts.input(i);
  if (parts.dtype(i) != DType::kS64) x = parts.cast(x, DType::kS64);
  x = parts.reshape(x, {1});
  const ValueId negative = parts.add("Less", {x, parts.number(DType::kS64, 0)});
  const ValueId from_end = parts.add("Add", {x, parts.number(DType::kS64, size)});
  x = parts.add("Where", {negative, from_end, x});
  const ValueId limited = parts.add("Max", {x, parts.number(DType::kS64, least)});
  return parts.add("Min", {limited, parts.number(DType::kS64, most)});
}

}  // namespace

bool CountedRows::makes_rows(const Node& node) const {
  const bool finds = node.op_type == "Unique";
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty()) return false;
  if (node.outputs.size() > (finds ? 4U : 1U) || node.outputs[0] == kNoValue) return false;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const bool is_counted = i != 2 && node.outputs[i] != kNoValue;  // indices of all elements
    if (is_counted && is_output_of_fixed_size(graph_, node.outputs[i])) return false;
  }
  const auto is_given = [&](std::size_t i) {
    return i < node.inputs.size() && node.inputs[i] != kNoValue;
  };
  const auto is_known = [&](std::size_t i) {
    return !is_given(i) || (graph_.value(node.inputs[i]).constant && !size_of(node.inputs[i]));
  };
  const auto is_one = [&](std::size_t i) {
    return is_given(i) && element_count(shape(node, i)) == 1;
  };
  const auto is_omitted_or_one = [&](std::size_t i) {
    return !is_given(i) || (is_one(i) && constant(node, i) != nullptr);
  };
  if (finds) return !is_known(0) && element_count(shape(node, 0)) > 0;
  if (node.op_type == "NonZero") return !is_known(0) && !shape(node, 0).empty();
  if (node.op_type == "Compress") {
    return node.inputs.size() == 2 && !is_known(1) && !shape(node, 0).empty() &&
           shape(node, 1).size() == 1;
  }
  if (node.op_type == "Slice") {
    return (!is_known(1) || !is_known(2)) && is_one(1) && is_one(2) && is_omitted_or_one(3) &&
           is_omitted_or_one(4) && !shape(node, 0).empty() &&
           (!is_given(4) || may_be_step(constant(node, 4)->integer(0)));
  }
  if (node.op_type == "NonMaxSuppression") {
    const Tensor* const most = constant(node, 2);
    return most != nullptr && most->size() == 1 && most->dtype() == DType::kS64 &&
           most->integer(0) > 0 && shape(node, 0).size() == 3 && shape(node, 1).size() == 3 &&
           !has_declared_rows(graph_.value(node.outputs[0]));
  }
  return false;
}

void CountedRows::make_slice(Parts& parts, const Node& node) {
  const Shape from = shape(node, 0);
  const Tensor* const axes = constant(node, 3);
  const std::size_t axis = from_start(axes == nullptr ? 0 : axes->integer(0), from.size());
  if (axis >= from.size() || from[axis] < 1)
    return parts.fail(DiagKind::kShape, cat("has no axis of rows in ", to_string(from)));
  if (!has_few_rows(parts, from[axis])) return;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (!parts.has_type(i, {DType::kS32, DType::kS64})) return;
  }
  const std::int64_t size = from[axis];
  const std::int64_t step = parts.has_input(4) ? constant(node, 4)->integer(0) : 1;
  if (const std::int64_t rows = step == 1 ? fixed_window(node, size) : 0; rows > 0) {
    const ValueId places = parts.ints(count_up(static_cast<std::size_t>(rows)));
    const ValueId at = parts.add("Add", {parts.reshape(parts.input(1), {1}), places});
    return parts.give(0, parts.gather(parts.input(0), at, static_cast<std::int64_t>(axis)));
  }
  // Backwards it begins at the last element and may end before the first one.
  const std::int64_t back = step < 0 ? 1 : 0;
  const ValueId begin = position(parts, 1, size, 0, size - back);
  const ValueId end = position(parts, 2, size, -back, size - back);
  const ValueId span = back != 0 ? parts.add("Sub", {begin, end}) : parts.add("Sub", {end, begin});
  const std::int64_t stride = std::abs(step), most = (size + stride - 1) / stride;
  ValueId length = parts.add("Max", {span, parts.ints({0})});
  if (stride > 1) {
    const ValueId more = parts.add("Add", {length, parts.number(DType::kS64, stride - 1)});
    length = parts.add("Div", {more, parts.number(DType::kS64, stride)});
  }
  Ints places = count_up(static_cast<std::size_t>(most));
  for (std::int64_t& each : places) each *= step;
  const ValueId at = parts.add("Add", {parts.ints(places), begin});
  const ValueId limited = parts.add(
      "Max",
      {parts.add("Min", {at, parts.number(DType::kS64, size - 1)}), parts.number(DType::kS64, 0)});
  parts.give(0, parts.gather(parts.input(0), limited, static_cast<std::int64_t>(axis)));
  mark(node.outputs[0], axis,
       {axis, parts.reshape(length, {}), most, kNoValue, node.index, location_of(node)});
}

void CountedRows::make_boxes(Parts& parts, const Node& node) {
  const Shape& scores = shape(node, 1);
  const std::int64_t most = std::min(constant(node, 2)->integer(0), scores[2]);
  if (!has_at_most({scores[0], scores[1], most}, kMostRows))
    return parts.fail(DiagKind::kLimit, cat("may select more than ", kMostRows, " boxes"));
  const std::int64_t rows = scores[0] * scores[1] * most;
  Attributes attributes = parts.take_all();
  attributes["rows"] = rows;
  const ValueId boxes =
      parts.add("FilledNonMaxSuppression", node.inputs, std::move(attributes), kEtch.data());
  const ValueId zero = parts.number(DType::kS64, 0);
  const ValueId found = parts.add("GreaterOrEqual", {parts.slice(boxes, 1, 2, 3), zero});
  const ValueId count = parts.reduce("ReduceSum", parts.cast(found, DType::kS64), {0, 1}, false);
  parts.give(0, parts.add("Max", {boxes, zero}));
  mark(node.outputs[0], 0, {0, count, rows, kNoValue, node.index, location_of(node)});
}

void CountedRows::make(Parts& parts, const Node& node) {
  if (node.op_type == "Slice") return make_slice(parts, node);
  if (node.op_type == "NonMaxSuppression") return make_boxes(parts, node);
  if (node.op_type == "Unique") return make_unique(parts, node);
  const bool compresses = node.op_type == "Compress";
  const std::size_t from = compresses ? 1 : 0;
  const Shape x = shape(node, 0);
  const std::int64_t n = element_count(shape(node, from));
  if (!has_few_rows(parts, n)) return;
  Rows rows{compresses ? 0U : 1U, kNoValue, n, node.inputs[from], node.index, location_of(node)};
  ValueId flags = parts.input(from);
  if (compresses && !parts.has_type(1, {DType::kBool})) return;
  if (parts.dtype(from) != DType::kBool) flags = parts.cast(flags, DType::kBool);
  const ValueId at = true_positions(parts, parts.reshape(flags, {n}), n, rows.count);
  if (compresses) {
    ValueId data = parts.input(0);
    std::int64_t axis = 0, size = element_count(x);
    if (parts.has("axis")) {
      axis = parts.take_axis("axis", 0, x.size());
      if (axis < 0) return;
      size = x[static_cast<std::size_t>(axis)];
    } else {
      data = parts.reshape(data, {size});
    }
    if (n > size)
      return parts.fail(DiagKind::kShape, cat("the condition has ", n, " elements, more than the ",
                                              size, " there are"));
    parts.give(0, parts.gather(data, at, axis));
    rows.axis = static_cast<std::size_t>(axis);
  } else {
    std::vector<ValueId> coordinates;
    std::int64_t stride = n;
    for (const std::int64_t each : x) {
      stride /= each;
      const ValueId row = parts.add("Div", {at, parts.number(DType::kS64, stride)});
      const ValueId place = parts.add("Mod", {row, parts.number(DType::kS64, each)});
      coordinates.push_back(parts.reshape(place, {1, n}));
    }
    parts.give(0, parts.concat(coordinates, 0));
  }
  mark(node.outputs[0], rows.axis, rows);
}

}  // namespace etch
