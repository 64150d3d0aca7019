// Lowering of QGemm with constant B and C and 8-bit output; see passes/expand.h for the rest.
#include "compiler/ir/four_bits.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/ops/qgemm/op.h"

namespace etch {

namespace {
constexpr int kMatrix = 3, kBias = 6;

bool present(const Node& node, int input) {
  return static_cast<int>(node.inputs.size()) > input &&
         node.inputs[static_cast<std::size_t>(input)] != kNoValue;
}

// The view with its two dimensions exchanged: A is used transposed.
View rows_first(const View& view, bool transposed) {
  return transposed ? permuted(view, {1, 0}) : view;
}
}  // namespace

void lower_qgemm(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QGemmParams>(node);
  const GemmGeometry& g = params.geometry;
  const bool has_bias = present(node, kBias);
  // passes/expand.h has rewritten every other form.
  ETCH_CHECK(params.a && params.b && params.y && lowering.is_constant(node, kMatrix) &&
             !lowering.is_constant(node, 0));
  const Order order = g.transposed_a ? Order{1, 0} : row_major(2);
  const View x = rows_first(lowering.contiguous(node, 0, order), g.transposed_a);
  const View y = lowering.new_output(node, 0, row_major(2));
  ConvProblem problem = matrix_problem(x, y, g.rows, g.depth, g.cols);
  const std::vector<std::int64_t> b = lowering.constant(node, kMatrix).integers();
  for (std::int64_t n = 0; n < g.cols; ++n) {
    for (std::int64_t k = 0; k < g.depth; ++k)
      problem.weights.push_back(static_cast<int>(b[g.b_index(k, n)]) - params.b->zero_point_at(n));
    problem.bias.push_back(
        has_bias ? lowering.constant(node, kBias).as<std::int32_t>()[g.c_index(0, n)] : 0);
  }
  problem.four_bits = has_four_bits(node);
  problem.x_zero_point = params.a->zero_point_at(0) + lowering.stored_offset(x);
  problem.scale = per_channel(qgemm_scale(params.alpha, *params.a, *params.b, &*params.y), g.cols);
  problem.out.zero_point = params.y->zero_point_at(0) + lowering.stored_offset(y);
  problem.out.low = params.limits.low + lowering.stored_offset(y);
  problem.out.high = params.limits.high + lowering.stored_offset(y);
  add_convolution(lowering, node, problem);
}

}  // namespace etch
