// Lowering of QLinearMatMul with a constant right-hand side.
#include "compiler/ops/qlinear_matmul/op.h"
#include "compiler/steps/products.h"

namespace etch {

void lower_qlinear_matmul(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QLinearMatMulParams>(node);
  const MatMulGeometry& g = params.geometry;
  const bool known = params.a && params.b && params.y && lowering.is_constant(node, 3);
  if (!known || params.a->scale.size() != 1 || params.a->zero_point.size() != 1) {
    lowering.unsupported(node,
                         "the right-hand side, scales and zero points must be constant and the "
                         "left-hand side per tensor");
    return;
  }
  if (element_count(g.b_batch) != 1) {
    lowering.unsupported(node, "a batch of right-hand sides cannot be compiled yet");
    return;
  }
  const std::int64_t rows = element_count(g.batch) * g.rows;
  const View x = lowering.contiguous(node, 0, row_major(lowering.view(node, 0).rank()));
  const View y = lowering.new_output(node, 0, row_major(static_cast<int>(g.output.size())));
  ConvProblem problem = matrix_problem(x, y, rows, g.depth, g.cols);
  const std::vector<std::int64_t> b = lowering.constant(node, 3).integers();
  for (std::int64_t n = 0; n < g.cols; ++n) {
    for (std::int64_t k = 0; k < g.depth; ++k) {
      problem.weights.push_back(static_cast<int>(b[static_cast<std::size_t>(k * g.cols + n)]) -
                                params.b->zero_point_at(n));
    }
  }
  problem.bias.assign(static_cast<std::size_t>(g.cols), 0);
  problem.x_zero_point = params.a->zero_point_at(0) + lowering.stored_offset(x);
  problem.scale = per_channel(combined_scale(*params.a, *params.b, *params.y), g.cols);
  problem.out.zero_point = params.y->zero_point_at(0) + lowering.stored_offset(y);
  add_convolution(lowering, node, problem);
}

}  // namespace etch
