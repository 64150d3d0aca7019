// Lowering of Expand: rows and blocks are copied as often as the output repeats them.
#include "compiler/base/text.h"
#include "compiler/kernels/move/move.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/expand/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_expand(Lowering& lowering, const Node& node) {
  if (refuse_empty(lowering, node)) return;
  const Shape& shape = params_of<StridedCopy>(node).shape;
  const View& x = lowering.view(node, 0);
  // The input as the output's shape: missing axes, and those of size 1, have stride 0.
  View from = x;
  const std::size_t missing = shape.size() - x.shape.size();
  from.shape = shape;
  from.stride.assign(shape.size(), 0);
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (x.shape[d] == shape[missing + d]) from.stride[missing + d] = x.stride[d];
  }
  const auto rank = static_cast<int>(shape.size());
  const View y = lowering.new_output(node, 0, missing == 0 ? order_like(x) : row_major(rank));
  MoveBuilder moves(lowering, node, y, "expand");
  moves.copy(moves.memory(x), from, y, {});
  moves.finish(
      cat("repeat ", counted(element_count(x.shape), "element"), " to ", to_string(shape)));
}

}  // namespace etch
