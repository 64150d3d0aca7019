// Lowering of functions of one float.
#include "compiler/base/text.h"
#include "compiler/kernels/rows/function.h"
#include "compiler/ops/float_function/op.h"
#include "compiler/ops/op.h"

namespace etch {

void lower_float_function(Lowering& lowering, const Node& node) {
  const auto& params = params_of<FloatFunction>(node);
  const Value& y = lowering.value(node.outputs[0]);
  ETCH_CHECK(y.dtype == DType::kF32);  // passes/expand has seen to integers
  add_function(lowering, node, params.function, params.alpha, params.beta,
               cat(node.op_type, " of ", element_count(*y.shape), " floats"));
}

}  // namespace etch
