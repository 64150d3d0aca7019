// Gemm: float matrix product with scaling, transposition and bias.
//
//   ai.onnx Gemm (7, 9, 11, 13): A [M, K] (or [K, M] with transA), B [K, N] (or [N, K] with
//   transB), optional C that broadcasts to [M, N]; float32. Attributes alpha, beta (default 1).
//
// y = fl(fl(alpha * sum) + fl(beta * C)) where sum adds A * B over k ascending, starts at 0, is
// kept in float32 and rounds every product and every sum, or both at once
// (--float-products fused). Without C: fl(alpha * sum).
#pragma once

#include "compiler/ops/matmul_geometry/geometry.h"

namespace etch {

struct GemmParams {
  GemmGeometry geometry;
  float alpha = 1.0F;  // finite
  float beta = 1.0F;   // finite
};

std::vector<Tensor> reference_gemm(const Node& node, std::span<const Tensor* const> inputs);
void lower_gemm(Lowering& lowering, const Node& node);

}  // namespace etch
