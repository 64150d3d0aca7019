// Lowering of QLinearSum16 to a step of the rows of 16-bit values.
#include "compiler/kernels/rows/word_sums.h"
#include "compiler/ops/qlinear_sum16/op.h"

namespace etch {

void lower_qlinear_sum16(Lowering& lowering, const Node& node) {
  const auto& p = params_of<QLinearSum16>(node);
  const SumFactors16 factors = *sum_factors16(p);
  WordSumPlan plan;
  plan.wide = factors.exact.unit > std::uint64_t{1} << 30;
  plan.sum.a = {p.a.zero_point, factors.a, factors.exact.parts[0]};
  plan.sum.b = {0, 0, 0};
  if (p.two) plan.sum.b = {p.b.zero_point, factors.b, factors.exact.parts[1]};
  plan.sum.unit = factors.exact.unit;
  plan.sum.shift = factors.bits + 14;
  plan.sum.y = {p.y.zero_point, p.low, p.high};
  add_word_sum(lowering, node, 0, p.two ? 5 : -1, plan);
}

}  // namespace etch
