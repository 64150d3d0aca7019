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
  const auto axis = params_of<Concat>(node).axis;
  std::vector<JoinedInput> parts;
  for (const PlacedInput& place : concat_placed(lowering.graph(), node)) {
    const ValueId id = node.inputs[static_cast<std::size_t>(place.input)];
    if (lowering.value(id).shape->at(static_cast<std::size_t>(axis)) > 0)
      parts.push_back({place, std::nullopt});
  }
  if (parts.size() == 1 && !lowering.is_constant(node, parts.front().place.input)) {
    lowering.set_view(node, 0, lowering.view(node, parts.front().place.input));
    return;
  }
  add_join(lowering, node, axis, parts);
}

}  // namespace etch
