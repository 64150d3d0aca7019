// See row_bands.h.
#include "compiler/passes/row_bands.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {
constexpr std::int64_t kRowAxis = 2;
}  // namespace

std::optional<BandInput> band_input(const ConvAxis& axis, Rows y) {
  const std::int64_t first = y.first * axis.stride - axis.pad_begin;
  const std::int64_t end =
      (y.end - 1) * axis.stride - axis.pad_begin + (axis.kernel - 1) * axis.dilation + 1;
  const Rows rows{std::max<std::int64_t>(0, first), std::min(axis.in, end)};
  if (rows.count() <= 0) return std::nullopt;
  return BandInput{rows, rows.first - first, end - rows.end};
}

void set_pads(Node& node, const BandInput& band, const ConvAxis& columns) {
  node.attributes.erase("auto_pad");
  node.attributes["pads"] =
      std::vector<std::int64_t>{band.pad_begin, columns.pad_begin, band.pad_end, columns.pad_end};
}

ValueId add_like(Graph& graph, ValueId value) {
  Value like;
  like.name = graph.value(value).name;
  return graph.add_value(std::move(like));
}

void add_node(Graph& graph, Node node, const Node& origin, ValueId output,
              std::vector<Node>& made) {
  node.index = origin.index;
  node.name = origin.name;
  node.outputs = {output};
  node.op = nullptr;
  node.params.reset();
  Sink none;
  ETCH_CHECK(resolve_node(graph, node, none));
  made.push_back(std::move(node));
}

ValueId add_row_slice(Graph& graph, const Node& origin, ValueId value, Rows rows,
                      std::vector<Node>& made) {
  Node slice;
  slice.op_type = "Slice";
  slice.inputs = {value};
  const std::pair<const char*, std::int64_t> range[] = {
      {"starts", rows.first}, {"ends", rows.end}, {"axes", kRowAxis}};
  if (graph.opsets.emplace("", 13).first->second < 10) {  // the ranges became inputs
    for (const auto& [name, at] : range) slice.attributes[name] = std::vector<std::int64_t>{at};
  } else {
    for (const auto& [name, at] : range) {
      slice.inputs.push_back(graph.add_constant(Tensor::of<std::int64_t>({1}, {at})));
    }
  }
  const ValueId part = add_like(graph, value);
  add_node(graph, std::move(slice), origin, part, made);
  return part;
}

void add_row_join(Graph& graph, const Node& origin, std::vector<ValueId> parts,
                  std::vector<Node>& made) {
  Node join;
  join.op_type = "Concat";
  join.attributes["axis"] = kRowAxis;
  join.inputs = std::move(parts);
  add_node(graph, std::move(join), origin, origin.outputs[0], made);
}

}  // namespace etch
