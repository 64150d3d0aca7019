// Lowering of Relu, LeakyRelu and Sigmoid on float32.
#include "compiler/base/text.h"
#include "compiler/ops/activation/op.h"
#include "compiler/ops/op.h"
#include "compiler/steps/arithmetic.h"

namespace etch {

void lower_activation(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Activation>(node);
  MapPlan plan;
  plan.alpha = params.alpha;
  plan.kind = params.kind == Activation::Kind::kRelu        ? MapPlan::Kind::kRelu
              : params.kind == Activation::Kind::kLeakyRelu ? MapPlan::Kind::kLeakyRelu
                                                            : MapPlan::Kind::kSigmoid;
  add_map(
      lowering, node, plan,
      cat(node.op_type, " of ", element_count(*lowering.value(node.outputs[0]).shape), " floats"));
}

}  // namespace etch
