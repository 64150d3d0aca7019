// See counted_rows.h.
#include "compiler/passes/counted_rows.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/compositions/indices.h"
#include "compiler/passes/compositions/parts.h"

namespace etch {

namespace {

constexpr std::int64_t kMostRows = 1 << 20;

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

// true for the rows that count, in a shape of `rank` axes
ValueId mask(Parts& parts, std::size_t rank, std::size_t axis, std::int64_t most, ValueId count) {
  const Ints numbers = count_up(static_cast<std::size_t>(most));
  return parts.add("Less", {parts.ints(along(rank, axis, most), numbers), count});
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

// False after a report.
bool has_few_rows(Parts& parts, std::int64_t most) {
  if (most <= kMostRows) return true;
  parts.fail(DiagKind::kLimit, cat("has as many rows as values say at run time, at most ", most,
                                   "; more than ", kMostRows, " cannot be compiled"));
  return false;
}

// A position in an axis of `size`, counted from 0 and limited to [0, size]: [1].
ValueId position(Parts& parts, std::size_t i, std::int64_t size) {
  ValueId x = parts.input(i);
  if (parts.dtype(i) != DType::kS64) x = parts.cast(x, DType::kS64);
  x = parts.reshape(x, {1});
  const ValueId zero = parts.number(DType::kS64, 0), most = parts.number(DType::kS64, size);
  x = parts.add("Where", {parts.add("Less", {x, zero}), parts.add("Add", {x, most}), x});
  return parts.add("Min", {parts.add("Max", {x, zero}), most});
}

}  // namespace

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

void CountedRows::follow(const Node& cast) {
  if (const Rows* const rows = rows_of(cast, 0)) mark(cast.outputs[0], rows->axis, *rows);
}

bool CountedRows::makes_rows(const Node& node) const {
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.size() != 1) return false;
  if (is_output_of_fixed_size(graph_, node.outputs[0])) return false;
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
  if (node.op_type == "NonZero") return !is_known(0) && !shape(node, 0).empty();
  if (node.op_type == "Compress") {
    return node.inputs.size() == 2 && !is_known(1) && !shape(node, 0).empty() &&
           shape(node, 1).size() == 1;
  }
  if (node.op_type == "Slice") {
    return (!is_known(1) || !is_known(2)) && is_one(1) && is_one(2) && is_omitted_or_one(3) &&
           is_omitted_or_one(4) && !shape(node, 0).empty() &&
           (!is_given(4) || constant(node, 4)->integer(0) == 1);
  }
  if (node.op_type == "NonMaxSuppression") {
    const Tensor* const most = constant(node, 2);
    return most != nullptr && most->size() == 1 && most->dtype() == DType::kS64 &&
           most->integer(0) > 0 && shape(node, 0).size() == 3 && shape(node, 1).size() == 3 &&
           !has_declared_rows(graph_.value(node.outputs[0]));
  }
  return false;
}

bool CountedRows::concerns(const Node& node) const {
  const auto is_counted = [&](ValueId id) {
    return rows_of(id) != nullptr || size_of(id) != nullptr;
  };
  return std::ranges::any_of(node.inputs, is_counted) || makes_rows(node);
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
  const ValueId begin = position(parts, 1, size), end = position(parts, 2, size);
  const ValueId length = parts.add("Max", {parts.add("Sub", {end, begin}), parts.ints({0})});
  const Rows rows = {axis, parts.reshape(length, {}), size, kNoValue};
  const ValueId at =
      parts.add("Add", {parts.ints(count_up(static_cast<std::size_t>(size))), begin});
  const ValueId limited = parts.add("Min", {at, parts.number(DType::kS64, size - 1)});
  parts.give(0, parts.gather(parts.input(0), limited, static_cast<std::int64_t>(axis)));
  mark(node.outputs[0], axis, rows);
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
  mark(node.outputs[0], 0, {0, count, rows, kNoValue});
}

void CountedRows::make(Parts& parts, const Node& node) {
  if (node.op_type == "Slice") return make_slice(parts, node);
  if (node.op_type == "NonMaxSuppression") return make_boxes(parts, node);
  const bool compresses = node.op_type == "Compress";
  const std::size_t from = compresses ? 1 : 0;
  const Shape x = shape(node, 0);
  const std::int64_t n = element_count(shape(node, from));
  if (!has_few_rows(parts, n)) return;
  Rows rows{compresses ? 0U : 1U, kNoValue, n, node.inputs[from]};
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

// ---- lists of sizes ----

// The place of the count in what a node makes of a list of sizes; none: it needs the numbers, or
// has lost the count.
std::optional<std::size_t> CountedRows::size_to(const Node& node) const {
  const Rows* const rows = size_of(node.inputs[0]);
  const auto at = rows == nullptr ? 0 : static_cast<std::int64_t>(rows->axis);
  if (node.op_type == "Concat") {
    std::size_t before = 0;
    std::optional<std::size_t> out;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Rows* const each = size_of(node.inputs[i]);
      if (each != nullptr && out) return std::nullopt;
      if (each != nullptr) out = before + each->axis;
      before += static_cast<std::size_t>(element_count(shape(node, i)));
    }
    return out;
  }
  if (rows == nullptr) return std::nullopt;
  const bool is_list = node.op_type != "Unsqueeze" || shape(node, 0).empty();  // of one axis again
  if (is_one_of(node.op_type, {"Unsqueeze", "Squeeze", "Identity"}) && is_list) return rows->axis;
  if (node.op_type == "Cast" && int_attribute(node, "to", 0) == onnx_number_of(DType::kS64))
    return rows->axis;
  if (node.op_type != "Gather" || constant(node, 1) == nullptr || shape(node, 1).size() > 1)
    return std::nullopt;
  const std::vector<std::int64_t> picked = constant(node, 1)->integers();
  const std::int64_t size = element_count(shape(node, 0));
  const auto names = [&](std::int64_t each) { return (each < 0 ? each + size : each) == at; };
  const auto found = std::ranges::find_if(picked, names);
  if (found == picked.end() || std::ranges::count_if(picked, names) > 1) return std::nullopt;
  return static_cast<std::size_t>(found - picked.begin());
}

// Whether the result is a list of sizes again, or has lost the count.
bool CountedRows::carries_size(const Node& node) {
  const auto given = std::ranges::find_if(node.inputs, [&](ValueId id) { return size_of(id); });
  const Rows rows = *size_of(*given);
  const auto has_rows = [&](ValueId id) { return rows_of(id) != nullptr; };
  if (std::ranges::any_of(node.inputs, has_rows)) return false;
  if (const auto to = size_to(node)) {
    sizes_[node.outputs[0]] = {*to, rows.count, rows.most, rows.source};
    return true;
  }
  if (node.op_type != "Gather" || constant(node, 1) == nullptr) return false;
  const std::int64_t size = element_count(shape(node, 0));
  return std::ranges::none_of(constant(node, 1)->integers(), [&](std::int64_t each) {
    return (each < 0 ? each + size : each) == static_cast<std::int64_t>(rows.axis);
  });
}

// A node that reads lists of sizes; false: not as such. Values with counted rows come after.
bool CountedRows::reads_sizes(const Node& node, std::vector<Node>& out) {
  const auto given = std::ranges::find_if(node.inputs, [&](ValueId id) { return size_of(id); });
  if (given == node.inputs.end()) return false;
  const Rows rows = *size_of(*given);
  out = {node};
  if (carries_size(node)) return true;
  const auto i = static_cast<std::size_t>(given - node.inputs.begin());
  if (const auto axis = sized_axis(node, i, rows)) {
    mark(node.outputs[0], *axis, rows);
    return true;
  }
  if (element_count(shape(node, i)) != 1) return false;
  // The number itself.
  Parts parts(graph_, node, sink_);
  Node with = node;
  const Shape one = shape(node, i);
  with.inputs[i] = parts.reshape(rows.count, one);
  Value& number = graph_.value(with.inputs[i]);  // asked for before the parts are resolved
  number.dtype = DType::kS64;
  number.shape = one;
  out = parts.take_parts();
  const std::vector<Node> rest = concerns(with) ? write(with) : std::vector<Node>{with};
  if (rest.empty()) out.clear();  // after a report
  out.insert(out.end(), rest.begin(), rest.end());
  return true;
}

// ---- what takes all rows together ----

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
  const ValueId known = mask(parts, x.size(), rows.axis, rows.most, rows.count);
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
  const ValueId known = mask(parts, at.size(), rows.axis, rows.most, rows.count);
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
  const ValueId known = mask(parts, rank, rows.axis, rows.most, rows.count);
  Node with = node;
  with.inputs[0] = parts.add("Where", {known, node.inputs[0], parts.scalar(0)});
  out = parts.take_parts();
  out.push_back(std::move(with));
  mark(node.outputs[0], rows.axis, rows);
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
      sizes_[node.outputs[0]] = {data->axis - start, data->count, data->most, data->source};
    return true;
  }
  Parts parts(graph_, node, sink_);
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
       cat("reads a value with 0 to ", rows.most,
           " rows, as many as other values say at run time; operators that treat each row alone, "
           "sums, means and maxima of them, and Scatter can be compiled, this cannot")});
}

std::vector<Node> CountedRows::write(const Node& node) {
  std::vector<Node> out;
  const auto given = std::ranges::find_if(node.inputs, [&](ValueId id) { return rows_of(id); });
  const bool reads_size = std::ranges::any_of(node.inputs, [&](ValueId id) { return size_of(id); });
  if (given == node.inputs.end() && !reads_size) {
    Parts parts(graph_, node, sink_);
    make(parts, node);
    return parts.finish();
  }
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

std::vector<Node> CountedRows::give_numbers() {
  std::vector<Node> out;
  for (ValueId& id : graph_.outputs) {
    const Rows* const rows = size_of(id);
    if (rows == nullptr || element_count(*graph_.value(id).shape) != 1) continue;
    const Value before = graph_.value(id);
    Node node;
    node.op_type = "Reshape";
    const auto rank = static_cast<std::int64_t>(before.shape->size());
    node.inputs = {rows->count, graph_.add_constant(Tensor::of<std::int64_t>(
                                    {rank}, std::vector<std::int64_t>(before.shape->size(), 1)))};
    id = graph_.add_value({before.name, before.dtype, before.shape, nullptr});
    node.outputs = {id};
    out.push_back(std::move(node));
  }
  return out;
}

void CountedRows::check_outputs(const std::function<bool(ValueId)>& is_known) {
  for (const ValueId id : graph_.outputs) {
    if (!is_known(id)) continue;  // what keeps it from that is reported
    const Rows* const rows = rows_of(id) != nullptr ? rows_of(id) : size_of(id);
    if (rows == nullptr) continue;
    sink_.report({Severity::kError, DiagKind::kUnsupported, -1,
                  cat("output '", printable(graph_.value(id).name), "'"),
                  cat("has 0 to ", rows->most,
                      " rows, as many as other values say at run time, and outputs have fixed "
                      "shapes; cut the network before it (--cut NAME)")});
  }
}

}  // namespace etch
