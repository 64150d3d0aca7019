// The rules of fuse_qdq.h for activations of 16 bits (docs/spec/products.md sections 5.10 and
// 5.11), all of org.etch; ONNX Runtime has none of them. Each makes the integer node of a group
// whose first input has 16 bits, or notes in group.fault why not; what else it needs, the operator
// itself checks.
//   Conv, ConvTranspose, Gemm, MatMul   QLinear...16 with constant 8-bit weights
//   MatMul of two tensors of 16 bits    QLinearProduct16
//   Add, Mul                            QLinearSum16, QLinearMul16
//   AveragePool, GlobalAveragePool,
//   ReduceMean                          QLinear...16
//   Concat of equal parameters          the same, on integers
//   Relu, Clip, or nothing at all       QLinearSum16 of one tensor
#pragma once

#include <optional>

#include "compiler/passes/qdq_group.h"

namespace etch {

bool has_words(const Group& group);

std::optional<Node> fuse_conv16(Group& group);
std::optional<Node> fuse_conv_transpose16(Group& group);
std::optional<Node> fuse_gemm16(Group& group);
std::optional<Node> fuse_matmul16(Group& group);
std::optional<Node> fuse_add16(Group& group);
std::optional<Node> fuse_mul16(Group& group);
std::optional<Node> fuse_pool16(Group& group);
std::optional<Node> fuse_mean16(Group& group);
std::optional<Node> fuse_concat16(Group& group);
// Relu or Clip alone; nothing, and no reason, where x has other types.
std::optional<Node> fuse_limit16(Group& group);

// `quantize` after `dequantize`, both of 16 bits, as one node.
std::optional<Node> rescaled16(Graph& graph, const Node& quantize, const Node& dequantize);

}  // namespace etch
