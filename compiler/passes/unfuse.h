// Functions, that is operators that are compositions of others, written as those others: what ONNX
// Runtime's optimizer makes of several operators of ai.onnx (com.microsoft), and functions of
// transformers in ai.onnx itself. One table, one rule per operator:
//   FusedConv                Conv, Add of Z, the activation
//   FusedGemm                Gemm, the activation
//   FusedMatMul, TransposeMatMul    Transpose of either side, MatMul, Mul by alpha
//   BiasGelu, FastGelu       Add of the bias, Gelu (of FastGelu: with tanh)
//   MatMulNBits with g_idx   Gather, MatMulNBits    compositions/grouped_weights.h
//   attention, rotary embeddings, normalization of transformers    functions/functions.h
// Activations: Relu, Sigmoid, Tanh, LeakyRelu, Clip, HardSigmoid, Elu, Softplus, Softsign,
// ThresholdedRelu. And those of ai.onnx in compiler/passes/compositions. Part of resolving: shapes
// of inputs are known, parts are not yet resolved.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

// Whether `node` is such an operator; its inputs have types and shapes.
bool is_fused(const Graph& graph, const Node& node);
// The same by its name alone: whether nodes of this operator can be such.
bool may_be_fused(const Node& node);

// The nodes that `node`, whose inputs have types and shapes, stands for, in order; they give its
// outputs. Empty after an error: E-GRAPH, E-ATTR or E-UNSUPPORTED.
std::vector<Node> unfused(Graph& graph, const Node& node, Sink& sink);

}  // namespace etch
