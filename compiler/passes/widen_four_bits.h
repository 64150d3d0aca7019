// Keeps elements of 4 bits in int8, which holds all of int4 and uint4, so that nothing after this
// pass knows them: weights of 4 bits serve the integer kernels, and values of 4 bits between
// operators take a byte each.
//   constants            the same values as int8
//   QuantizeLinear       to int8, then Clip to the range of the 4-bit type (quantization is
//   monotone) Cast from integers   a table of the low 4 bits (of an 8-bit type: Cast to uint8 comes
//   before) all other nodes      resolved anew
//
// DequantizeLinear of constants of 4 bits is marked (ir/four_bits.h).
// Inputs and outputs of the graph cannot have 4 bits: what a byte of them would be is not settled.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

// Requires and keeps a resolved graph.
void widen_four_bits(Graph& graph, Sink& sink);

}  // namespace etch
