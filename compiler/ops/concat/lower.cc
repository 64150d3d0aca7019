// Lowering of Concat: whatever has not been written into its place already is copied there.
#include "compiler/kernels/move/join.h"
#include "compiler/ops/concat/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<PlacedInput> concat_placed(const Graph& graph, const Node& node) {
  std::vector<PlacedInput> out;
  const std::int64_t axis = params_of<Concat>(node).axis;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Shape& shape = *graph.value(node.inputs[i]).shape;
    out.push_back(placed_along(static_cast<int>(i), shape.size(), axis, start));
    start += shape[static_cast<std::size_t>(axis)];
  }
  return out;
}

void lower_concat(Lowering& lowering, const Node& node) {
  std::vector<JoinedInput> parts;
  for (const PlacedInput& place : concat_placed(lowering.graph(), node))
    parts.push_back({place, std::nullopt});
  add_join(lowering, node, params_of<Concat>(node).axis, parts);
}

}  // namespace etch
