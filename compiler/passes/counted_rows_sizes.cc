// Lists of sizes of which one is the number of rows that count; see counted_rows.h.
#include <algorithm>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/compositions/parts.h"
#include "compiler/passes/counted_rows.h"

namespace etch {

// Which elements of a list of sizes Gather or Slice takes, in order; none: another operator, or
// known at run time only.
std::optional<Ints> CountedRows::picked_sizes(const Node& node) const {
  const std::int64_t size = element_count(shape(node, 0));
  if (node.op_type == "Gather") {
    const Tensor* const indices = constant(node, 1);
    if (indices == nullptr || shape(node, 1).size() > 1) return std::nullopt;
    Ints out = indices->integers();
    for (std::int64_t& each : out) each += each < 0 ? size : 0;
    return out;
  }
  const bool slices = node.op_type == "Slice" && shape(node, 0).size() == 1;
  if (!slices || node.inputs.size() < 3) return std::nullopt;
  Ints numbers = {0, size, 0, 1};  // begin, end, axis, step
  for (std::size_t i = 0; i < 4; ++i) {
    if (i + 1 >= node.inputs.size() || node.inputs[i + 1] == kNoValue) continue;
    const Tensor* const given = constant(node, i + 1);
    if (given == nullptr || given->size() != 1) return std::nullopt;
    numbers[i] = given->integer(0);
  }
  const auto limited = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  if (numbers[3] != 1) return std::nullopt;
  Ints out;
  for (std::int64_t at = limited(numbers[0]); at < limited(numbers[1]); ++at) out.push_back(at);
  return out;
}

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
  const bool is_list =  // of one axis again
      node.op_type != "Unsqueeze" || (shape(node, 0).empty() && axes_of(node).size() == 1);
  if (is_one_of(node.op_type, {"Unsqueeze", "Squeeze", "Identity"}) && is_list) return rows->axis;
  if (node.op_type == "Cast" && int_attribute(node, "to", 0) == onnx_number_of(DType::kS64))
    return rows->axis;
  const auto picked = picked_sizes(node);
  if (!picked) return std::nullopt;
  const auto found = std::ranges::find(*picked, at);
  if (found == picked->end() || std::ranges::count(*picked, at) > 1) return std::nullopt;
  return static_cast<std::size_t>(found - picked->begin());
}

// Whether the result is a list of sizes again, or has lost the count.
bool CountedRows::carries_size(const Node& node) {
  const auto given = std::ranges::find_if(node.inputs, [&](ValueId id) { return size_of(id); });
  const Rows rows = *size_of(*given);
  const auto has_rows = [&](ValueId id) { return rows_of(id) != nullptr; };
  if (std::ranges::any_of(node.inputs, has_rows)) return false;
  if (const auto to = size_to(node)) {
    mark_size(first_output(node), *to, rows);
    return true;
  }
  const auto picked = picked_sizes(node);
  return picked && std::ranges::count(*picked, static_cast<std::int64_t>(rows.axis)) == 0;
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
    mark(first_output(node), *axis, rows);
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

}  // namespace etch
