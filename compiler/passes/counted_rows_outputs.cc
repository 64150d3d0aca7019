// Outputs of the network that have as many rows as values say; see counted_rows.h.
#include <algorithm>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ops/op.h"
#include "compiler/passes/compositions/parts.h"
#include "compiler/passes/counted_rows.h"

namespace etch {

namespace {

// NAME_shape, with a number where the network has an output of that name.
std::string shape_name(const Graph& graph, const std::string& name) {
  const auto is_taken = [&](const std::string& each) {
    return std::ranges::any_of(graph.outputs,
                               [&](ValueId id) { return graph.value(id).name == each; });
  };
  std::string out = cat(name, "_shape");
  for (int i = 2; is_taken(out); ++i) out = cat(name, "_shape", i);
  return out;
}

// What the parts of an output are named after: its node, or that which counts if the output is a
// constant, as one without elements is.
Node origin_of(const Graph& graph, ValueId id, int counter) {
  for (const Node& node : graph.nodes) {
    if (std::ranges::count(node.outputs, id) != 0) return node;
  }
  Node out;
  out.index = counter;
  return out;
}

bool has_mask(DType type) { return type != DType::kF16 && type != DType::kBF16; }

}  // namespace

// `id` with zeros in the rows that do not count.
ValueId CountedRows::zeroed(Parts& parts, ValueId id, const Rows& rows) {
  const Value& value = graph_.value(id);
  const Tensor zero(*value.dtype, {});
  const ValueId known = mask(parts, value.shape->size(), rows);
  return parts.add("Where", {known, id, parts.constant(zero)});
}

// The sizes `most` as they are at run time: a list, in parts as Concat takes them.
std::vector<ValueId> CountedRows::sizes(Parts& parts, const Shape& most, const Rows& rows) {
  const auto axis = most.begin() + static_cast<std::ptrdiff_t>(rows.axis);
  std::vector<ValueId> out;
  if (axis != most.begin()) out.push_back(parts.ints(Shape(most.begin(), axis)));
  out.push_back(parts.reshape(rows.count, {1}));
  if (axis + 1 != most.end()) out.push_back(parts.ints(Shape(axis + 1, most.end())));
  return out;
}

std::vector<Node> CountedRows::zero_input(Node& cast) {
  const Rows* const rows = rows_of(cast, 0);
  if (rows == nullptr || !graph_.value(cast.inputs[0]).dtype) return {};
  Parts parts(graph_, cast, sink_);
  const ValueId id = zeroed(parts, cast.inputs[0], *rows);
  mark(id, rows->axis, Rows(*rows));
  cast.inputs[0] = id;
  return parts.take_parts();
}

std::vector<Node> CountedRows::give_outputs(const std::function<bool(ValueId)>& is_known) {
  std::vector<Node> out;
  const std::size_t given = graph_.outputs.size();
  for (std::size_t i = 0; i < given; ++i) {
    const ValueId id = graph_.outputs[i];
    if (!is_known(id)) continue;  // what keeps it from that is reported
    const Rows* const counted = rows_of(id) != nullptr ? rows_of(id) : size_of(id);
    if (counted == nullptr) continue;
    const Rows rows = *counted;
    const Value value = graph_.value(id);
    const Node origin = origin_of(graph_, id, rows.node);
    Parts parts(graph_, origin, sink_);
    ValueId result = id;
    if (size_of(id) != nullptr) {
      const std::vector<ValueId> all = sizes(parts, value.constant->integers(), rows);
      result = value.shape->empty() ? parts.reshape(rows.count, {})
                                    : parts.add("Concat", all, {{"axis", std::int64_t{0}}});
    } else {
      if (has_mask(*value.dtype)) result = zeroed(parts, id, rows);
      const ValueId shape = parts.add(
          "OutputShape", sizes(parts, *value.shape, rows),
          {{"axis", std::int64_t{0}}, {"output", static_cast<std::int64_t>(i)}}, kEtch.data());
      graph_.value(shape).name = shape_name(graph_, value.name);
      graph_.outputs.push_back(shape);
      graph_.opsets.emplace(kEtch, 1);
      sink_.note(DiagKind::kShape, cat("output '", printable(value.name), "'"),
                 cat("has 0 to ", rows.most, " rows, as many as ", rows.maker,
                     " finds at run time; zeros are after them, and another output, '",
                     printable(graph_.value(shape).name), "', is its shape"));
    }
    graph_.value(result).name = value.name;
    graph_.outputs[i] = result;
    for (Node& part : parts.take_parts()) out.push_back(std::move(part));
  }
  return out;
}

}  // namespace etch
