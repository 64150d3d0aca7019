// Lowering of MatMulNBits to products that widen their weights as they go, or of bytes where rows
// are quantized.
#include "compiler/ir/geometry/strided.h"
#include "compiler/kernels/products/packed_weights.h"
#include "compiler/ops/matmul_nbits/op.h"

namespace etch {

void lower_matmul_nbits(Lowering& lowering, const Node& node) {
  const auto& p = params_of<MatMulNBits>(node);
  const Tensor& b = lowering.constant(node, 1);
  const bool has_zeros = node.inputs.size() > 3 && node.inputs[3] != kNoValue;
  const Tensor* const zeros = has_zeros ? &lowering.constant(node, 3) : nullptr;
  PackedWeights weights;
  weights.rows = p.rows;
  weights.depth = p.depth;
  weights.cols = p.cols;
  weights.bits = static_cast<int>(p.bits);
  weights.block = p.quantizes_a ? p.row_block() : p.block;
  weights.quantizes_a = p.quantizes_a;
  weights.float_zeros = has_zeros && zeros->dtype() == DType::kF32;
  weights.one_zero = !has_zeros;
  weights.value_at = [&](std::int64_t n, std::int64_t k) { return p.value_at(b, n, k); };
  const auto of_b = [&](std::int64_t i) { return p.quantizes_a ? p.block_of_row(i) : i; };
  weights.zero_at = [&](std::int64_t n, std::int64_t i) { return p.zero_at(zeros, n, of_b(i)); };
  weights.scale_at = [&, scales = lowering.constant(node, 2).as<float>()](std::int64_t n,
                                                                          std::int64_t i) {
    return scales[as_index(n * p.blocks + of_b(i))];
  };
  add_packed_product(lowering, node, weights, 5);
}

}  // namespace etch
