// Lowering of Table.
#include "compiler/base/text.h"
#include "compiler/kernels/rows/table.h"
#include "compiler/ops/op.h"
#include "compiler/ops/table/op.h"

namespace etch {

void lower_table(Lowering& lowering, const Node& node) {
  add_table(lowering, node, 0, table_from(lowering.constant(node, 1)),
            cat(params_of<Table>(node).of, " of ",
                element_count(*lowering.value(node.outputs[0]).shape), " quantized values"));
}

}  // namespace etch
