// Lowering of the means of 16-bit windows.
#include "compiler/kernels/rows/word_sums.h"
#include "compiler/ops/qlinear_pool16/op.h"

namespace etch {

void lower_qlinear_pool16(Lowering& lowering, const Node& node) {
  const auto& p = params_of<QLinearPool16>(node);
  const MeanFactors16 factors = *mean_factors16(p);
  WordPoolPlan plan;
  plan.averages = true;
  plan.shape.count_padding = p.count_padding == CountPadding::kYes ? 1 : 0;
  plan.mean = {p.x.zero_point,
               factors.least,
               static_cast<std::int32_t>(factors.factors.size()),
               factors.bits,
               factors.exact.parts[0],
               factors.exact.unit,
               {p.y.zero_point, static_cast<std::int32_t>(min_of(p.dtype)),
                static_cast<std::int32_t>(max_of(p.dtype))}};
  plan.of_axes = p.of_axes;
  add_word_pool(lowering, node, p.geometry, plan, factors.factors);
}

}  // namespace etch
