// Lowering of operators that only rename elements: a new view, or a copy into row-major order.
#include "compiler/kernels/move/relabel.h"

namespace etch {

void lower_relabel(Lowering& lowering, const Node& node) {
  const View& from = lowering.view(node, 0);
  const Order order = row_major(from.rank());
  View view = is_contiguous(from, order) ? from : lowering.contiguous(node, 0, order);
  const std::int64_t offset = view.offset;
  view.shape = *lowering.value(node.outputs[0]).shape;
  view.halo_begin.clear();
  view.halo_end.clear();
  lay_out(view, row_major(view.rank()));
  view.offset = offset;
  lowering.set_view(node, 0, view);
}

void lower_transposed(Lowering& lowering, const Node& node, const std::vector<int>& perm) {
  lowering.set_view(node, 0, permuted(lowering.view(node, 0), perm));
}

}  // namespace etch
