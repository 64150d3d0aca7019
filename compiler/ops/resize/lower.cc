// Lowering of Resize: nearest neighbours are moved, linear and cubic mode compute.
#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/kernels/move/move.h"
#include "compiler/kernels/resize/antialias.h"
#include "compiler/kernels/resize/resize.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/op.h"
#include "compiler/ops/resize/op.h"

namespace etch {

namespace {

std::vector<AxisMap> maps_of(const Resize& params) {
  std::vector<AxisMap> maps;
  for (std::size_t d = 0; d < params.axes.size(); ++d) {
    maps.push_back(identity_map(params.axes[d].out));
    for (std::int64_t& at : maps.back()) at = nearest_sample(params, d, at);
  }
  return maps;
}

// Everything is filled with the extrapolation value first; then the positions inside, which are one
// interval along each axis.
void lower_extrapolated(Lowering& lowering, const Node& node, const Resize& params) {
  const Order order = order_like(lowering.view(node, 0));
  const View x = lowering.ordered(node, 0, order);
  const View y = lowering.new_output(node, 0, order);
  MoveBuilder moves(lowering, node, y, "resize");
  moves.fill(y, params.value, "positions outside");
  const MoveBuilder::Source source = moves.memory(x);
  std::vector<AxisMap> maps = maps_of(params);
  View inside = y;
  for (std::size_t d = 0; d < maps.size(); ++d) {
    const auto is_inside = [](std::int64_t at) { return at >= 0; };
    const auto first = std::find_if(maps[d].begin(), maps[d].end(), is_inside);
    const auto end = std::find_if_not(first, maps[d].end(), is_inside);
    inside = part_of(inside, d, first - maps[d].begin(), end - first);
    maps[d] = AxisMap(first, end);
  }
  if (!moves.map(source, x, inside, maps, "positions inside")) {
    lowering.unsupported(
        node, "more than four axes with irregular positions, apart in memory, cannot be compiled");
    return;
  }
  moves.finish(cat("nearest neighbours, ", to_string(x.shape), " to ", to_string(y.shape)));
}

}  // namespace

void lower_resize(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<Resize>(node);
  if (params.mode == Resize::Mode::kCopy) {
    lowering.set_view(node, 0, lowering.view(node, 0));
  } else if (params.antialias) {
    add_antialias(lowering, node, params);
  } else if (params.mode == Resize::Mode::kLinear) {
    add_linear_resize(lowering, node, params);
  } else if (params.mode == Resize::Mode::kCubic) {
    add_cubic_resize(lowering, node, params);
  } else if (params.extrapolate) {
    lower_extrapolated(lowering, node, params);
  } else {
    lower_mapped(lowering, node, maps_of(params), "resize",
                 cat("nearest neighbours, ", to_string(*lowering.value(node.inputs[0]).shape),
                     " to ", to_string(params.shape)));
  }
}

}  // namespace etch
