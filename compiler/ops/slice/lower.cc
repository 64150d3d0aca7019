// Lowering of Slice: a view of the input; only where an axis runs backwards a copy.
#include <algorithm>

#include "compiler/kernels/move/move.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/ops/op.h"
#include "compiler/ops/slice/op.h"

namespace etch {

namespace {

// The whole's halo is beside the part where the part reaches the border.
void keep_halo(View& part, const View& whole, const std::vector<AxisRange>& ranges) {
  if (whole.halo_begin.size() != ranges.size()) return;
  const bool has_gaps =
      std::any_of(ranges.begin(), ranges.end(), [](const AxisRange& r) { return r.step != 1; });
  if (has_gaps) return;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    if (ranges[d].start == 0) part.halo_begin[d] = whole.halo_begin[d];
    if (ranges[d].start + part.shape[d] == whole.shape[d]) part.halo_end[d] = whole.halo_end[d];
  }
}

}  // namespace

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
  const View whole = lowering.view(node, 0);
  View view = whole;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    view = part_of(view, d, ranges[d].start, params.shape[d]);
    view.stride[d] *= ranges[d].step;
  }
  keep_halo(view, whole, ranges);
  lowering.set_view(node, 0, view);
}

}  // namespace etch
