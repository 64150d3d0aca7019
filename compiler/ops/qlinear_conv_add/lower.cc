// Lowering of QLinearConvAdd to one convolution step.
#include "compiler/ops/qlinear_conv/lower.h"

#include "compiler/kernels/conv/convolution.h"
#include "compiler/ops/qlinear_binary/factors.h"
#include "compiler/ops/qlinear_conv_add/op.h"

namespace etch {

void lower_qlinear_conv_add(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QLinearConvAdd>(node);
  if (!has_constant_parameters(lowering, node, params.conv)) {
    lowering.unsupported(node, "weights and bias must be known at compile time, and x must not");
    return;
  }
  ConvProblem problem = qlinear_conv_problem(lowering, node, params.conv);
  const ConvLayout layout = params.conv.geometry.layout;
  const Order order = conv_order(layout, problem.x.rank());
  ConvResidual residual;
  residual.view = channels_first(lowering.in_arena(node, 9, order), layout);
  const int flip = lowering.stored_offset(problem.y);
  const Summand own{{params.conv.y->scale_at(0), params.conv.y->zero_point_at(0)}, flip};
  const Summand other{params.residual, lowering.stored_offset(residual.view)};
  residual.add.residual_is_a = params.residual_is_a;
  residual.add.factors = params.residual_is_a ? sum_factors(other, own, {params.sum, flip})
                                              : sum_factors(own, other, {params.sum, flip});
  residual.add.low = params.low + flip;
  residual.add.high = params.high + flip;
  problem.residual = residual;
  add_convolution(lowering, node, problem);
}

}  // namespace etch
