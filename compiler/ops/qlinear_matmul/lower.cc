// Lowering of QLinearMatMul: packed weights where b is constant, a step that packs b where it is
// not, the general loops where scales are known at run time only or zero points differ.
#include "compiler/ir/four_bits.h"
#include "compiler/kernels/conv/convolution.h"
#include "compiler/kernels/products/general.h"
#include "compiler/kernels/products/packed_product.h"
#include "compiler/ops/qlinear_matmul/op.h"

namespace etch {

namespace {

// A product whose step packs b; nothing if b's zero points or scales differ between matrices.
std::optional<PackedProduct> packed_product(const QLinearMatMulParams& params) {
  const MatMulGeometry& g = params.geometry;
  if (!params.a || !params.b || !params.y || g.depth == 0) return std::nullopt;
  if (element_count(g.output) == 0) return std::nullopt;
  PackedProduct out{g,
                    kQLinearInputs,
                    common_zero_point(params.a->zero_point),
                    common_zero_point(params.b->zero_point),
                    {},
                    {}};
  const std::vector<float> scale = combined_scale(*params.a, *params.b, *params.y);
  const bool fits = scale.size() == 1 || std::ssize(scale) == g.cols;
  if (!out.a_zero || !out.b_zero || params.a->scale.size() != 1 || !fits) return std::nullopt;
  out.scale = per_channel(scale, g.cols);
  out.out.zero_point = params.y->zero_point_at(0);
  out.out.low = params.limits.low;
  out.out.high = params.limits.high;
  return out;
}

}  // namespace

void lower_qlinear_matmul(Lowering& lowering, const Node& node) {
  const auto& params = params_of<QLinearMatMulParams>(node);
  const MatMulGeometry& g = params.geometry;
  const bool known = params.a && params.b && params.y && lowering.is_constant(node, 3);
  const bool packed = known && params.a->scale.size() == 1 && params.a->zero_point.size() == 1 &&
                      element_count(g.b_batch) == 1 && !lowering.is_constant(node, 0);
  if (!packed || g.depth == 0 || element_count(g.output) == 0) {
    if (const std::optional<PackedProduct> product = packed_product(params)) {
      add_packed_product(lowering, node, *product);
      return;
    }
    if (node.domain == kEtch) {
      lowering.unsupported(node, "limits need constant weights, scales and zero points");
      return;
    }
    add_general_matmul(lowering, node, g, kQLinearInputs);
    return;
  }
  const std::int64_t rows = element_count(g.batch) * g.rows;
  const View x = lowering.contiguous(node, 0, row_major(lowering.view(node, 0).rank()));
  const View y = lowering.new_dense_output(node, 0, row_major(static_cast<int>(g.output.size())));
  ConvProblem problem = matrix_problem(x, y, rows, g.depth, g.cols);
  const std::vector<std::int64_t> b = lowering.constant(node, 3).integers();
  for (std::int64_t n = 0; n < g.cols; ++n) {
    for (std::int64_t k = 0; k < g.depth; ++k) {
      problem.weights.push_back(static_cast<int>(b[static_cast<std::size_t>(k * g.cols + n)]) -
                                params.b->zero_point_at(n));
    }
  }
  problem.four_bits = has_four_bits(node);
  problem.bias = params.bias;
  problem.bias.resize(static_cast<std::size_t>(g.cols));
  problem.x_zero_point = params.a->zero_point_at(0) + lowering.stored_offset(x);
  problem.scale = per_channel(combined_scale(*params.a, *params.b, *params.y), g.cols);
  problem.out.zero_point = params.y->zero_point_at(0) + lowering.stored_offset(y);
  problem.out.low = params.limits.low + lowering.stored_offset(y);
  problem.out.high = params.limits.high + lowering.stored_offset(y);
  add_convolution(lowering, node, problem);
}

}  // namespace etch
