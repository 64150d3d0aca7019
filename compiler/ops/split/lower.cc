// Lowering of Split: every output is a view of the input.
#include "compiler/lower/halo.h"
#include "compiler/lower/lowering.h"
#include "compiler/ops/op.h"
#include "compiler/ops/split/op.h"

namespace etch {

void lower_split(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Split>(node);
  const Shape& from = *lowering.value(node.inputs[0]).shape;
  for (std::size_t i = 0; i < params.parts.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    if (element_count(params.parts[i].shape) == 0) {
      lowering.unsupported(node, "an empty output (a size of 0) cannot be compiled");
      continue;
    }
    const std::vector<AxisRange> ranges = ranges_of(params.parts[i].view, from);
    std::vector<std::int64_t> start;
    start.reserve(ranges.size());
    for (const AxisRange& range : ranges) start.push_back(range.start);
    lowering.set_view(node, static_cast<int>(i),
                      part_with_halo(lowering.view(node, 0), start, params.parts[i].shape));
  }
}

}  // namespace etch
