// Lowering of MatMulInteger: packed weights where b is constant, a step that packs b where it is
// not, the general loops where rows or columns have zero points of their own.
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/general.h"
#include "compiler/kernels/products/packed_product.h"
#include "compiler/ops/matmul_integer/op.h"

namespace etch {

namespace {

constexpr ProductInputs kInputs{.x = 0, .x_zero_point = 2, .w = 1, .w_zero_point = 3};

// Whether one zero point serves the whole input, known or not; `known` gets it if it is.
bool has_one_zero_point(const Lowering& lowering, const Node& node, int input,
                        const std::optional<std::vector<int>>& value, std::optional<int>& known) {
  if (value) known = common_zero_point(*value);
  return value ? known.has_value() : is_per_tensor(lowering, node, input);
}

}  // namespace

void lower_matmul_integer(Lowering& lowering, const Node& node) {
  const auto& params = params_of<MatMulIntegerParams>(node);
  const MatMulGeometry& g = params.geometry;
  const bool packed = params.b_zero_point && lowering.is_constant(node, 1) &&
                      !lowering.is_constant(node, 0) && element_count(g.b_batch) == 1 &&
                      is_per_tensor(lowering, node, 2);
  const bool empty = g.depth == 0 || element_count(g.output) == 0;
  PackedProduct product{g, kInputs, {}, {}, {}, {}};
  if (!packed && !empty &&
      has_one_zero_point(lowering, node, 2, params.a_zero_point, product.a_zero) &&
      has_one_zero_point(lowering, node, 3, params.b_zero_point, product.b_zero)) {
    add_packed_product(lowering, node, product);
    return;
  }
  if (!packed || empty) {
    add_general_matmul(lowering, node, g, kInputs);
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
