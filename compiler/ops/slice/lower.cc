// Lowering of Slice: a view of the input; only where an axis runs backwards a copy.
#include <algorithm>

#include "compiler/kernels/move/move.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/halo.h"
#include "compiler/ops/op.h"
#include "compiler/ops/slice/op.h"

namespace etch {

void lower_slice(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const auto& params = params_of<StridedCopy>(node);
  const std::vector<AxisRange> ranges =
      ranges_of(params.view, *lowering.value(node.inputs[0]).shape);
  const bool forward =
      std::all_of(ranges.begin(), ranges.end(), [](const AxisRange& r) { return r.step >= 0; });
  if (!forward) {
    std::vector<AxisMap> maps;
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      maps.push_back(identity_map(params.shape[d]));
      for (std::int64_t& at : maps.back()) at = ranges[d].start + at * ranges[d].step;
    }
    lower_mapped(lowering, node, maps, "slice", "elements in reverse order");
    return;
  }
  std::vector<std::int64_t> start;
  start.reserve(ranges.size());
  for (const AxisRange& range : ranges) start.push_back(range.start);
  View view = part_with_halo(lowering.view(node, 0), start, params.shape);
  const bool has_gaps =
      std::any_of(ranges.begin(), ranges.end(), [](const AxisRange& r) { return r.step != 1; });
  if (has_gaps) view.halo_begin = view.halo_end = std::vector<std::int64_t>(ranges.size(), 0);
  for (std::size_t d = 0; d < ranges.size(); ++d) view.stride[d] *= ranges[d].step;
  lowering.set_view(node, 0, view);
}

}  // namespace etch
