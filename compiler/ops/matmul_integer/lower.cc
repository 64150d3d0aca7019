// Lowering of MatMulInteger: packed weights where b is constant, else the general loops.
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/general.h"
#include "compiler/ops/matmul_integer/op.h"

namespace etch {

namespace {
// One zero point for the whole of a, constant or not.
bool a_is_per_tensor(const Lowering& lowering, const Node& node) {
  const bool given = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  return !given || element_count(*lowering.value(node.inputs[2]).shape) == 1;
}
}  // namespace

void lower_matmul_integer(Lowering& lowering, const Node& node) {
  const auto& params = params_of<MatMulIntegerParams>(node);
  const MatMulGeometry& g = params.geometry;
  const bool packed = params.b_zero_point && lowering.is_constant(node, 1) &&
                      !lowering.is_constant(node, 0) && element_count(g.b_batch) == 1 &&
                      a_is_per_tensor(lowering, node);
  if (!packed || g.depth == 0 || element_count(g.output) == 0) {
    add_general_matmul(lowering, node, g, {.x = 0, .x_zero_point = 2, .w = 1, .w_zero_point = 3});
    return;
  }
  const std::int64_t rows = element_count(g.batch) * g.rows;
  const View x = lowering.contiguous(node, 0, row_major(lowering.view(node, 0).rank()));
  const View y = lowering.new_dense_output(node, 0, row_major(static_cast<int>(g.output.size())));
  ConvProblem problem = matrix_problem(x, y, rows, g.depth, g.cols);
  const std::vector<std::int64_t> b = lowering.constant(node, 1).integers();
  const std::vector<int>& zero = *params.b_zero_point;
  for (std::int64_t n = 0; n < g.cols; ++n) {
    for (std::int64_t k = 0; k < g.depth; ++k) {
      problem.weights.push_back(static_cast<int>(b[static_cast<std::size_t>(k * g.cols + n)]) -
                                zero[static_cast<std::size_t>(n) % zero.size()]);
    }
  }
  problem.bias.assign(static_cast<std::size_t>(g.cols), 0);
  if (!params.a_zero_point) {
    add_convolution(lowering, node, std::move(problem), 2);
    return;
  }
  problem.x_zero_point = params.a_zero_point->front() + lowering.stored_offset(x);
  add_convolution(lowering, node, problem);
}

}  // namespace etch
