// MatMul: float matrix product with numpy's rules for batches and one-dimensional operands.
//
//   ai.onnx MatMul (1, 9, 13): a [..., M, K], b [..., K, N], float32. y [..., M, N]. Leading
//   sizes broadcast; a 1-D operand is a single row or column: matmul_geometry/geometry.h.
//
// y[m, n] = sum over k, ascending, of a[m, k] * b[k, n]; it starts at 0, is kept in float32, and
// every product and every sum is rounded, or both at once (--float-products fused).
#pragma once

#include "compiler/ops/matmul_geometry/geometry.h"

namespace etch {

struct MatMulParams {
  MatMulGeometry geometry;
};

std::vector<Tensor> reference_matmul(const Node& node, std::span<const Tensor* const> inputs);
void lower_matmul(Lowering& lowering, const Node& node);

}  // namespace etch
