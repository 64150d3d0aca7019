// Lowering of PRelu: one function of two operands, row by row.
#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/ops/op.h"
#include "compiler/ops/prelu/op.h"

namespace etch {

void lower_prelu(Lowering& lowering, const Node& node) {
  add_combination(lowering, node, CombinePlan::Kind::kPRelu,
                  cat("x, or slope * x where x is negative, ",
                      counted(element_count(params_of<PRelu>(node).shape), "element")));
}

}  // namespace etch
