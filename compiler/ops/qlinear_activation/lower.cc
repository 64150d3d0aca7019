// Lowering of QLinearSigmoid and QLinearLeakyRelu to tables.
#include "compiler/base/text.h"
#include "compiler/kernels/rows/table.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qlinear_activation/op.h"

namespace etch {

void lower_qlinear_activation(Lowering& lowering, const Node& node) {
  add_table(lowering, node, 0, table_of(lowering, node, 0),
            cat(node.op_type, " of ", element_count(*lowering.value(node.outputs[0]).shape),
                " quantized values"));
}

}  // namespace etch
