// Lowering of the beginning of a Loop, Scan or If: memory for what is carried, which holds the
// first values, the number of the trip, and the flag that is looked at before each.
#include "compiler/ir/geometry/strided.h"
#include "compiler/lower/lowering.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"

namespace etch {

namespace {
const RegionEnd& end_of(const Lowering& lowering, const Node& begin) {
  const Graph& graph = lowering.graph();
  const auto index = static_cast<std::size_t>(&begin - graph.nodes.data());
  return params_of<RegionEnd>(graph.nodes[end_of_region(graph, index)]);
}

View one(Lowering& lowering, DType type, const Shape& shape) {
  View view = lowering.scratch(type, 1);
  view.shape = shape;
  lay_out(view, row_major(view.rank()));
  return view;
}
}  // namespace

void lower_region_begin(Lowering& lowering, const Node& node) {
  const auto& params = params_of<RegionBegin>(node);
  const RegionEnd& end = end_of(lowering, node);
  const int carried = static_cast<int>(params.carried);
  for (int k = 0; k < carried; ++k) {
    const int rank = static_cast<int>(lowering.value(node.inputs[as_index(2 + k)]).shape->size());
    const View state = lowering.new_dense_output(node, 1 + k, row_major(rank));
    lowering.copy_to(node, 2 + k, state, "what a loop carries, as it is at first");
  }
  for (int k = carried; k < carried + static_cast<int>(params.guarded); ++k)
    lowering.set_view(node, 1 + k, lowering.view(node, 2 + k));
  if (end.is_branch) {
    lowering.set_view(node, 0, {});  // nothing counts the trip
  } else {
    const View trip = one(lowering, DType::kS64, *lowering.value(node.outputs[0]).shape);
    lowering.copy_constant(node, Tensor(DType::kS64, trip.shape), trip, "count trips from 0");
    lowering.set_view(node, 0, trip);
  }
  Region region;
  region.trips = end.trips;
  region.is_branch = end.is_branch;
  region.when = end.when;
  if (end.conditional) {
    const View flag = one(lowering, DType::kU8, *lowering.value(node.inputs[1]).shape);
    lowering.copy_to(node, 1, flag, "whether there is a trip at all");
    region.flag = flag.buffer;
  }
  lowering.begin_region(region);
}

}  // namespace etch
