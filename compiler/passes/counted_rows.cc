// See counted_rows.h: what is known of values, and what takes all rows together.
#include "compiler/passes/counted_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/compositions/parts.h"

namespace etch {

// true for the rows that count, in a shape of `rank` axes
ValueId CountedRows::mask(Parts& parts, std::size_t rank, const Rows& rows) {
  const Ints numbers = count_up(static_cast<std::size_t>(rows.most));
  return parts.add("Less", {parts.ints(along(rank, rows.axis, rows.most), numbers), rows.count});
}

const CountedRows::Rows* CountedRows::rows_of(ValueId id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

const CountedRows::Rows* CountedRows::size_of(ValueId id) const {
  const auto found = sizes_.find(id);
  return found == sizes_.end() ? nullptr : &found->second;
}

const CountedRows::Rows* CountedRows::rows_of(const Node& node, std::size_t i) const {
  return i < node.inputs.size() ? rows_of(node.inputs[i]) : nullptr;
}

const Tensor* CountedRows::constant(const Node& node, std::size_t i) const {
  if (i >= node.inputs.size() || node.inputs[i] == kNoValue) return nullptr;
  const ValueId id = node.inputs[i];
  if (rows_of(id) != nullptr || size_of(id) != nullptr) return nullptr;
  const Tensor* const tensor = graph_.value(id).constant.get();
  const bool is_whole =
      tensor != nullptr && (tensor->dtype() == DType::kS64 || tensor->dtype() == DType::kS32);
  return is_whole ? tensor : nullptr;
}

const Shape& CountedRows::shape(const Node& node, std::size_t i) const {
  static const Shape none;  // of an input that is missing, which resolving the node reports
  const bool given = i < node.inputs.size() && node.inputs[i] != kNoValue;
  return given ? *graph_.value(node.inputs[i]).shape : none;
}

void CountedRows::mark(ValueId id, std::size_t axis, const Rows& rows) {
  if (id == kNoValue) return;
  rows_[id] = rows;
  rows_[id].axis = axis;
  if (rows.source == kNoValue) rows_[id].source = rows.count;
}

void CountedRows::mark_size(ValueId id, std::size_t axis, const Rows& rows) {
  if (id == kNoValue) return;
  sizes_[id] = rows;
  sizes_[id].axis = axis;
}

void CountedRows::follow(const Node& cast) {
  if (const Rows* const rows = rows_of(cast, 0)) mark(cast.outputs[0], rows->axis, *rows);
}

bool CountedRows::concerns(const Node& node) const {
  const auto is_counted = [&](ValueId id) {
    return rows_of(id) != nullptr || size_of(id) != nullptr;
  };
  return std::ranges::any_of(node.inputs, is_counted) || makes_rows(node) ||
         (is_region_end(node) && trips_.contains(node.inputs[0]));
}

// False after a report.
bool CountedRows::has_few_rows(Parts& parts, std::int64_t most) {
  if (most <= kMostRows) return true;
  parts.fail(DiagKind::kLimit, cat("has as many rows as values say at run time, at most ", most,
                                   "; more than ", kMostRows, " cannot be compiled"));
  return false;
}

// Rows that become so many each, as Reshape to [-1] makes of [n, k], and those that were made so
// and become one again. They stay in order; those of the same rows are equally many.
bool CountedRows::merges(Parts& parts, const Node& node, const Rows& rows) {
  if (!is_one_of(node.op_type, {"Reshape", "Flatten"})) return false;
  const auto place = place_of_rows(node, rows);
  if (!place || place->size() == rows.most) return false;
  const auto parts_of_one = std::ranges::find_if(
      merged_, [&](const auto& each) { return each.second.source == rows.source; });
  if (parts_of_one != merged_.end() && std::get<0>(parts_of_one->first).most == place->size()) {
    mark(node.outputs[0], place->axis, std::get<0>(parts_of_one->first));
  } else {
    if (place->size() % rows.most != 0) return false;
    const std::int64_t each = place->size() / rows.most;
    if (!has_few_rows(parts, place->size())) return true;
    const auto [found, is_new] = merged_.try_emplace({rows, each, open_region()}, rows);
    Rows& all = found->second;
    if (is_new) {
      all.most = place->size();
      all.count = parts.add("Mul", {rows.count, parts.number(DType::kS64, each)});
      all.source = all.count;
    }
    mark(node.outputs[0], place->axis, all);
  }
  parts.take_all();
  parts.give(0, parts.reshape(parts.input(0), place->shape));
  return true;
}

void CountedRows::reduce(Parts& parts, const Node& node, const Rows& rows) {
  const Shape x = shape(node, 0);
  const std::set<std::size_t> set = axes_of(node);
  const Ints axes(set.begin(), set.end());
  const bool is_mean = node.op_type == "ReduceMean";
  if (!parts.has_type(0, {DType::kF32, DType::kS32, DType::kS64})) return;
  if (is_mean && !parts.has_type(0, {DType::kF32})) return;
  const DType type = parts.dtype(0);
  const bool keeps = parts.take<std::int64_t>("keepdims", 1) != 0;
  parts.take<Ints>("axes", {});
  parts.take<std::int64_t>("noop_with_empty_axes", 0);
  ValueId neutral = parts.number(type, node.op_type == "ReduceProd" ? 1 : 0);
  const bool is_max = node.op_type == "ReduceMax";
  if (is_max || node.op_type == "ReduceMin") {
    const float infinity = std::numeric_limits<float>::infinity();
    const std::int64_t least = type == DType::kS32 ? INT32_MIN : INT64_MIN;
    neutral = type == DType::kF32 ? parts.scalar(is_max ? -infinity : infinity)
                                  : parts.number(type, is_max ? least : -(least + 1));
  }
  const ValueId known = mask(parts, x.size(), rows);
  const ValueId filled = parts.add("Where", {known, parts.input(0), neutral});
  const ValueId y = parts.reduce(is_mean ? "ReduceSum" : node.op_type.c_str(), filled, axes, keeps);
  if (!is_mean) return parts.give(0, y);
  std::int64_t others = 1;
  for (const std::size_t d : set) others *= d == rows.axis ? 1 : x[d];
  const ValueId elements = parts.add("Mul", {rows.count, parts.number(DType::kS64, others)});
  parts.give(0, parts.add("Div", {y, parts.cast(elements, DType::kF32)}));
}

// Rows that do not count are written to a row after the data's last one.
void CountedRows::scatter(Parts& parts, const Node& node, const Rows& rows) {
  if (!parts.has_type(1, {DType::kS32, DType::kS64})) return;
  const bool by_lists = node.op_type == "ScatterND";
  Shape more = shape(node, 0);
  const Shape at = shape(node, 1);
  const std::int64_t axis = by_lists ? 0 : parts.take_axis("axis", 0, more.size());
  if (axis < 0 || more.empty() || at.empty()) return;
  const auto d = static_cast<std::size_t>(axis);
  const std::int64_t size = std::exchange(more[d], 1);
  ValueId indices = parts.input(1);
  if (parts.dtype(1) != DType::kS64) indices = parts.cast(indices, DType::kS64);
  const auto last = static_cast<std::int64_t>(at.size()) - 1;
  ValueId first = by_lists ? parts.slice(indices, last, 0, 1) : indices;
  const ValueId negative = parts.add("Less", {first, parts.number(DType::kS64, 0)});
  const ValueId end = parts.number(DType::kS64, size);
  first = parts.add("Where", {negative, parts.add("Add", {first, end}), first});
  const ValueId known = mask(parts, at.size(), rows);
  first = parts.add("Where", {known, first, end});
  if (by_lists && at.back() > 1)
    first = parts.concat({first, parts.slice(indices, last, 1, at.back())}, last);
  const ValueId room =
      parts.concat({parts.input(0), parts.constant(Tensor(parts.dtype(0), more))}, axis);
  Attributes attributes = parts.take_all();
  if (!by_lists) attributes["axis"] = axis;
  const ValueId y =
      parts.add(node.op_type.c_str(), {room, first, parts.input(2)}, std::move(attributes));
  parts.give(0, parts.slice(y, axis, 0, size));
}

// The range of all rows always has 0 in it.
void CountedRows::quantize(const Node& node, const Rows& rows, std::vector<Node>& out) {
  Parts parts(graph_, node, sink_);
  const std::size_t rank = shape(node, 0).size();
  const ValueId known = mask(parts, rank, rows);
  Node with = node;
  with.inputs[0] = parts.add("Where", {known, node.inputs[0], parts.scalar(0)});
  out = parts.take_parts();
  out.push_back(std::move(with));
  mark(first_output(node), rows.axis, rows);
}

bool CountedRows::consumes(const Node& node, std::vector<Node>& out) {
  if (!node.domain.empty()) return false;
  if (node.op_type == "DynamicQuantizeLinear") {
    if (rows_of(node, 0) == nullptr) return false;
    quantize(node, *rows_of(node, 0), out);
    return true;
  }
  if (node.outputs.size() != 1) return false;
  const Rows* const data = rows_of(node, 0);
  if (node.op_type == "Shape" && data != nullptr) {
    const auto rank = static_cast<std::int64_t>(shape(node, 0).size());
    const auto limited = [&](const char* name, std::int64_t fallback) {
      const std::int64_t at = int_attribute(node, name, fallback);
      return static_cast<std::size_t>(std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank));
    };
    const std::size_t start = limited("start", 0), end = limited("end", rank);
    out = {node};
    if (data->axis >= start && data->axis < end)
      mark_size(node.outputs[0], data->axis - start, *data);
    return true;
  }
  Parts parts(graph_, node, sink_);
  if (node.op_type == "Gather" && data != nullptr && rows_of(node, 1) == nullptr &&
      node.inputs.size() == 2 && is_row_of_trip(node.inputs[1], *data) &&
      from_start(int_attribute(node, "axis", 0), shape(node, 0).size()) == data->axis) {
    out = {node};
    return true;
  }
  if (node.op_type == "Size" && data != nullptr) {
    const std::int64_t others = element_count(shape(node, 0)) / data->most;
    parts.give(0, parts.add("Mul", {data->count, parts.number(DType::kS64, others)}));
    out = parts.finish();
    return true;
  }
  if (data != nullptr && merges(parts, node, *data)) {
    out = parts.finish();
    return true;
  }
  if (data != nullptr &&
      is_one_of(node.op_type, {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
                               "ReduceL1", "ReduceL2", "ReduceSumSquare"}) &&
      knows_axes(node) && axes_of(node).contains(data->axis)) {
    reduce(parts, node, *data);
    out = parts.finish();
    return true;
  }
  if (is_one_of(node.op_type, {"ScatterElements", "ScatterND"}) && node.inputs.size() == 3) {
    const Rows* const indices = rows_of(node.inputs[1]);
    const Rows* const updates = rows_of(node.inputs[2]);
    const bool fits = data == nullptr && indices != nullptr && updates != nullptr &&
                      indices->axis == updates->axis && indices->source == updates->source &&
                      (node.op_type != "ScatterND" || indices->axis + 1 < shape(node, 1).size());
    if (!fits) return false;
    scatter(parts, node, *indices);
    out = parts.finish();
    return true;
  }
  return false;
}

void CountedRows::refuse(const Node& node, const Rows& rows) {
  sink_.report(
      {Severity::kError, DiagKind::kUnsupported, node.index, location_of(node),
       cat("reads a value with 0 to ", rows.most, " rows, as many as ", rows.maker,
           " finds at run time; operators that treat each row alone, sums, means and maxima of "
           "them, and Scatter can be compiled, this cannot")});
}

std::vector<Node> CountedRows::write(const Node& node) {
  std::vector<Node> out;
  const auto given = std::ranges::find_if(node.inputs, [&](ValueId id) { return rows_of(id); });
  const bool reads_size = std::ranges::any_of(node.inputs, [&](ValueId id) { return size_of(id); });
  if (given == node.inputs.end() && !reads_size && !is_region_end(node)) {
    Parts parts(graph_, node, sink_);
    make(parts, node);
    for (const ValueId id : node.outputs) {
      if (rows_of(id) != nullptr) rows_[id].region = open_region();
    }
    return parts.finish();
  }
  const bool is_loop = is_region_begin(node) && node.op_type == "Loop";
  if (is_loop && size_of(node.inputs[0]) != nullptr && element_count(shape(node, 0)) == 1 &&
      size_of(node.inputs[1]) == nullptr && rows_of(node, 1) == nullptr) {
    return enter_rows(node);
  }
  if (is_region_end(node) && trips_.contains(node.inputs[0])) return leave_rows(node);
  const bool decides = rows_of(node, 0) != nullptr || rows_of(node, 1) != nullptr;
  if (is_region_begin(node) && !reads_size && !decides) {
    enter(node);
    return {node};
  }
  if (is_region_end(node) && !reads_size && !decides) return leave(node);
  if (reads_sizes(node, out)) return out;
  if (given != node.inputs.end()) {
    if (consumes(node, out)) return out;
    if (carries(node)) return {node};
    refuse(node, *rows_of(*given));
    return {};
  }
  const auto size = std::ranges::find_if(node.inputs, [&](ValueId id) { return size_of(id); });
  refuse(node, *size_of(*size));
  return {};
}

}  // namespace etch
