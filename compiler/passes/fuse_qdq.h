// The groups DequantizeLinear -> operator -> QuantizeLinear that become one integer operator, with
// ONNX Runtime's conditions (docs/spec/qdq.md section 8.1):
//   Conv              QLinearConv; bias: see below. With Relu or Clip before the Q: QLinearConv of
//                     org.etch with limits; ONNX Runtime leaves these in float, which differs at
//                     near-ties (docs/spec/qdq.md section 8.2). So has ConvTranspose
//                     16-bit activations: QLinearConv16 of org.etch; ONNX Runtime has none
//   ConvTranspose     QLinearConvTranspose of org.etch (channels first); ONNX Runtime has no
//                     integer kernel and leaves it float, which differs at near-ties (section 8.2)
//   MatMul            QLinearMatMul; of two matrices without Q after it: QGemm with float output
//   Gemm              QGemm, with float output when no Q follows
//   Add, Mul          QLinearAdd, QLinearMul
//   AveragePool, GlobalAveragePool, Softmax, Sigmoid, LeakyRelu, Concat
//                     QLinear...; Concat of equal parameters stays Concat, on integers
//   Where             QLinearWhere; the condition is no quantized input
// All inputs come from DequantizeLinear, all uses of the output are QuantizeLinear with one set of
// parameters, and the output is not a graph output. Input and output have one 8-bit type; weights
// may be int8 beside uint8. With QdqGroups::kAll the inputs, weights and output of Conv,
// ConvTranspose, Gemm and MatMul have any 8-bit types.
//
// Bias: int32 with scale x_scale * w_scale is taken as it is. Up to 4 units in the last place count
// as equal. Up to 1 % (or 1e-6) away, where ONNX Runtime takes the integers unchanged, they are
// made anew from the float bias, with a warning; farther away the group stays float, as there. A
// constant float bias before a Q is quantized: int32(rne(fl(bias / fl(x_scale * w_scale)))).
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/qdq_group.h"

namespace etch {

// Rewrites every group once, in place; returns how many. Requires and keeps a resolved graph, but
// leaves dead nodes.
int fuse_qdq_groups(Graph& graph, Sink& sink, QdqGroups groups);

// Whether the operator is one of those above.
bool may_become_integers(const Node& node);

}  // namespace etch
