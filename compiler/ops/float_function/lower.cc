// Lowering of functions of one float.
#include "compiler/base/text.h"
#include "compiler/ops/float_function/op.h"
#include "compiler/ops/op.h"
#include "compiler/steps/function.h"

namespace etch {

void lower_float_function(Lowering& lowering, const Node& node) {
  const auto& params = params_of<FloatFunction>(node);
  const Value& y = lowering.value(node.outputs[0]);
  if (y.dtype != DType::kF32) {
    lowering.unsupported(node, "on integers it can only be computed when compiling");
    return;
  }
  add_function(lowering, node, params.function, params.alpha, params.beta,
               cat(node.op_type, " of ", element_count(*y.shape), " floats"));
}

}  // namespace etch
