// Lowering of QLinearMul16 to a step of the rows of 16-bit values.
#include "compiler/kernels/rows/word_sums.h"
#include "compiler/ops/qlinear_mul16/op.h"

namespace etch {

void lower_qlinear_mul16(Lowering& lowering, const Node& node) {
  const auto& p = params_of<QLinearMul16>(node);
  const WideScale scale = p.scale();
  WordMulPlan plan;
  plan.factors = {p.a.zero_point,
                  p.b.zero_point,
                  static_cast<std::uint32_t>(scale.high()),
                  static_cast<std::uint32_t>(scale.low()),
                  scale.shift(),
                  {p.y.zero_point, p.low, p.high}};
  add_word_mul(lowering, node, 0, 5, plan);
}

}  // namespace etch
