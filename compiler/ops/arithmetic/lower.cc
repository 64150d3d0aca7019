// Lowering of Add, Sub, Mul, Div, Mod, Max, Min and Sum on float32, int32 and int64; passes/expand
// has left nothing else.
#include "compiler/base/text.h"
#include "compiler/kernels/rows/arithmetic.h"
#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
struct Meaning {
  CombinePlan::Kind kind;
  const char* text;
};

Meaning meaning_of(Arithmetic::Kind kind) {
  switch (kind) {
    case Arithmetic::Kind::kAdd:
      return {CombinePlan::Kind::kAdd, "sum"};
    case Arithmetic::Kind::kSub:
      return {CombinePlan::Kind::kSub, "difference"};
    case Arithmetic::Kind::kMul:
      return {CombinePlan::Kind::kMul, "product"};
    case Arithmetic::Kind::kMax:
      return {CombinePlan::Kind::kMax, "maximum"};
    case Arithmetic::Kind::kMin:
      return {CombinePlan::Kind::kMin, "minimum"};
    case Arithmetic::Kind::kMod:
      return {CombinePlan::Kind::kMod, "modulus"};
    case Arithmetic::Kind::kRemainder:
      return {CombinePlan::Kind::kRemainder, "remainder"};
    case Arithmetic::Kind::kBitAnd:
      return {CombinePlan::Kind::kBitAnd, "bits of both"};
    case Arithmetic::Kind::kBitOr:
      return {CombinePlan::Kind::kBitOr, "bits of either"};
    case Arithmetic::Kind::kBitXor:
      return {CombinePlan::Kind::kBitXor, "different bits"};
    case Arithmetic::Kind::kShiftLeft:
      return {CombinePlan::Kind::kShiftLeft, "shift"};
    case Arithmetic::Kind::kShiftRight:
      return {CombinePlan::Kind::kShiftRight, "shift"};
    case Arithmetic::Kind::kDiv:
      break;
    case Arithmetic::Kind::kMean:
      ETCH_CHECK(false);
  }
  return {CombinePlan::Kind::kDiv, "quotient"};
}
}  // namespace

void lower_arithmetic(Lowering& lowering, const Node& node) {
  const auto& params = params_of<Arithmetic>(node);
  if (node.inputs.size() == 1) {
    lowering.set_view(node, 0, lowering.view(node, 0));
    return;
  }
  const Meaning meaning = meaning_of(params.kind);
  add_combination(
      lowering, node, meaning.kind,
      cat(meaning.text, " of ", node.inputs.size() == 2 ? "two" : cat(node.inputs.size()), " ",
          name_of(*lowering.value(node.outputs[0]).dtype), " tensors, ",
          counted(element_count(params.shape), "element")));
}

}  // namespace etch
