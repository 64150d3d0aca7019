// Pointwise functions of one 8-bit tensor become tables of 256 entries: everything between
// DequantizeLinear and QuantizeLinear, or made of QLinear operators, as long as everything that
// is not constant comes from the same tensor and every constant is a scalar. So x * Sigmoid(x),
// Clip(x + 3, 0, 6) / 6 * x, a change of scale and whole chains of them are one look-up each. The
// operators declare that they are pointwise (OpDef::elements); a trial only confirms it. The
// entries are what the operators' reference functions give, so results stay the same bit for bit
// (docs/spec/qlinear.md section 6.1). A table that only limits what a QLinearConv, a QGemm or a
// QLinearMatMul gives becomes part of it, one that changes nothing vanishes.
//
// Requires and keeps a resolved graph; renumbers values. Runs after fold_qdq, which decides what is
// integer arithmetic, and after folding of dequantized constants.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"

namespace etch {

void fuse_table(Graph& graph, Sink& sink);

}  // namespace etch
