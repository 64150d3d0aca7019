// Lowering of Pad: a view where elements are only removed; the border is filled around an input
// that is in its place already, or is copied there.
#include <algorithm>
#include <numeric>

#include "compiler/base/text.h"
#include "compiler/kernels/move/move.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/op.h"
#include "compiler/ops/pad/op.h"

namespace etch {

namespace {

bool removes_any(const Pad& params, const Shape& from) {
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (params.axes[d].size != from[d]) return true;
  }
  return false;
}

// What is left of the input.
View left_of(View view, const Pad& params) {
  for (std::size_t d = 0; d < params.axes.size(); ++d)
    view = part_of(view, d, params.axes[d].first, params.axes[d].size);
  return view;
}

// Where in the output the input's elements are.
View inside_of(View view, const Pad& params) {
  for (std::size_t d = 0; d < params.axes.size(); ++d)
    view = part_of(view, d, params.axes[d].begin, params.axes[d].size);
  return view;
}

// In memory order: the parts before and after the input along each dimension, where the outer
// dimensions are limited to those of the input.
void fill_border(MoveBuilder& moves, const View& y, const Pad& params) {
  std::vector<std::size_t> order(y.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return y.stride[a] > y.stride[b]; });
  View rest = y;
  for (const std::size_t d : order) {
    const PadAxis& axis = params.axes[d];
    moves.fill(part_of(rest, d, 0, axis.begin), params.value, cat("before axis ", d));
    moves.fill(part_of(rest, d, axis.begin + axis.size, axis.end), params.value,
               cat("after axis ", d));
    rest = part_of(rest, d, axis.begin, axis.size);
  }
}

void lower_constant(Lowering& lowering, const Node& node, const Pad& params) {
  const View y = lowering.new_output(node, 0, order_like(lowering.view(node, 0)));
  const View from = left_of(lowering.view(node, 0), params);
  const View to = inside_of(y, params);
  MoveBuilder moves(lowering, node, y, "pad");
  const bool in_place = from.buffer == to.buffer && from.offset == to.offset;
  if (!in_place) {
    const MoveBuilder::Source source = moves.source(0);
    moves.copy(source, from, to, {});
  }
  fill_border(moves, y, params);
  moves.finish(in_place ? "fill the border around data that is in place"
                        : "copy and fill the border");
}

}  // namespace

std::vector<PlacedInput> pad_placed(const Graph& graph, const Node& node) {
  const auto& params = params_of<Pad>(node);
  if (params.mode != Pad::Mode::kConstant) return {};
  if (removes_any(params, *graph.value(node.inputs[0]).shape)) return {};
  PlacedInput placed;
  for (const PadAxis& axis : params.axes) placed.start.push_back(axis.begin);
  return {placed};
}

void lower_pad(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<Pad>(node);
  const bool adds = std::any_of(params.axes.begin(), params.axes.end(),
                                [](const PadAxis& axis) { return axis.begin > 0 || axis.end > 0; });
  if (!adds) {
    lowering.set_view(node, 0, left_of(lowering.view(node, 0), params));
    return;
  }
  if (params.mode == Pad::Mode::kConstant) {
    lower_constant(lowering, node, params);
    return;
  }
  std::vector<AxisMap> maps;
  for (std::size_t d = 0; d < params.axes.size(); ++d) {
    maps.push_back(identity_map(params.shape[d]));
    for (std::int64_t& at : maps.back()) at = source_of(params.axes[d], params.mode, at);
  }
  lower_mapped(lowering, node, maps, "pad", "copy, and repeat elements around");
}

}  // namespace etch
