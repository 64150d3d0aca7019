// Lowering of Gather: with constant indices a view where they are one slice or evenly spaced ones,
// else a copy through a map of positions; with others the runtime looks them up.
#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/kernels/move/move.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/kernels/select/gather.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/gather/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {

AxisMap positions_of(const Tensor& indices, std::int64_t size) {
  AxisMap map = indices.integers();
  for (std::int64_t& at : map) at = at < 0 ? at + size : at;
  return map;
}

// The step between positions, if they advance evenly.
std::optional<std::int64_t> even_step(const AxisMap& map) {
  const std::int64_t step = map.size() > 1 ? map[1] - map[0] : 1;
  if (step < 1) return std::nullopt;
  for (std::size_t i = 1; i < map.size(); ++i) {
    if (map[i] - map[i - 1] != step) return std::nullopt;
  }
  return step;
}

// `view`, whose dimension `axis` stands for all indices, with the output's dimensions.
View unfolded(View view, std::size_t axis, const Shape& indices, const Shape& shape) {
  std::vector<std::int64_t> strides(indices.size());
  std::int64_t stride = view.stride[axis];
  for (std::size_t i = indices.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= indices[i];
  }
  const auto at = view.stride.begin() + static_cast<std::ptrdiff_t>(axis);
  view.stride.insert(view.stride.erase(at), strides.begin(), strides.end());
  view.shape = shape;
  view.halo_begin.assign(shape.size(), 0);
  view.halo_end.assign(shape.size(), 0);
  return view;
}

void lower_constant_indices(Lowering& lowering, const Node& node, const Gather& params) {
  const Tensor& indices = lowering.constant(node, 1);
  const AxisMap map = positions_of(indices, params.size);
  const View& as_is = lowering.view(node, 0);
  const std::size_t axis = params.axis;
  if (const auto step = even_step(map)) {
    View view = part_of(as_is, axis, map[0], static_cast<std::int64_t>(map.size()));
    view.stride[axis] *= *step;
    lowering.set_view(node, 0, unfolded(view, axis, indices.shape(), params.shape));
    return;
  }
  std::vector<AxisMap> maps;
  for (const std::int64_t size : as_is.shape) maps.push_back(identity_map(size));
  maps[axis] = map;
  const Order order = order_like(as_is);
  const bool raw = as_is.dtype == DType::kS8 && needs_tables(maps);
  const View x = raw ? lowering.ordered(node, 0, order) : as_is;
  // Dense memory of its own, in which the axis stands for all indices.
  const DType type = x.dtype == DType::kS8 ? DType::kU8 : x.dtype;
  View y = lowering.scratch(type, element_count(params.shape));
  y.flipped = x.flipped || x.dtype == DType::kS8;
  y.shape = x.shape;
  y.shape[axis] = indices.size();
  y.halo_begin.clear();
  y.halo_end.clear();
  lay_out(y, order);
  MoveBuilder moves(lowering, node, y, "gather");
  if (!moves.map(moves.memory(x), x, y, maps, {})) {
    lowering.unsupported(
        node, "more than four axes with irregular positions, apart in memory, cannot be compiled");
    return;
  }
  moves.finish(cat("pick ", indices.size(), " of ", counted(params.size, "slice")));
  lowering.set_view(node, 0, unfolded(y, axis, indices.shape(), params.shape));
}

}  // namespace

void lower_gather(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<Gather>(node);
  if (lowering.is_constant(node, 1)) {
    lower_constant_indices(lowering, node, params);
  } else {
    add_gather(lowering, node, params.outer, params.size, params.inner);
  }
}

}  // namespace etch
