// Writes operators that are compositions of others as those others, so that one lowering serves
// them all:
//   DynamicQuantizeMatMul   DynamicQuantizeLinear, then as below
//   MatMulIntegerToFloat    MatMulInteger, Cast, Mul by a_scale * b_scale, and Add of a bias
//   QGemm                   unless everything but A is constant and the output has 8 bits:
//                           Transpose, MatMulInteger, Add of C, Cast, Mul by the scales; for 8 bits
//                           QuantizeLinear with scale 1
//   Mean                    Sum, and Mul by fl(1 / n)
//   Add, Mod, Max ... of 16 bits, BitShift of 8   Cast to int32, the same there, Cast back
//   Add, Max, BitShift ... of uint32, uint64   the same on int32 or int64, and what order needs
//   Equal, Less ... of 16 bits, uint32, uint64  the same on int32 or int64
//   Cast of uint32, uint64  through int32 and int64; Where of these, and of 16 bits, on them
//   Relu, Abs, Neg, Sign of integers      Max, Sub and Min, of 8 and 16 bits in int32
//   RNN, GRU, LSTM          see expand_recurrent.h
// Each step rounds as the operator's own definition does.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

// Requires and keeps a resolved graph in topological order. Constant operands may give constant
// nodes: fold comes after.
void expand(Graph& graph, Sink& sink);

}  // namespace etch
