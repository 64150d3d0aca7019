// Lowering of Relu, LeakyRelu, Sigmoid and Round on float32.
#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/ops/activation/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
MapPlan::Kind kind_of(Activation::Kind kind) {
  switch (kind) {
    case Activation::Kind::kRelu:
      return MapPlan::Kind::kRelu;
    case Activation::Kind::kLeakyRelu:
      return MapPlan::Kind::kLeakyRelu;
    case Activation::Kind::kSigmoid:
      return MapPlan::Kind::kSigmoid;
    case Activation::Kind::kRound:
      return MapPlan::Kind::kRoundEven;
  }
  ETCH_CHECK(false);
}
}  // namespace

void lower_activation(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Activation>(node);
  MapPlan plan;
  plan.alpha = params.alpha;
  plan.kind = kind_of(params.kind);
  add_map(
      lowering, node, plan,
      cat(node.op_type, " of ", element_count(*lowering.value(node.outputs[0]).shape), " floats"));
}

}  // namespace etch
