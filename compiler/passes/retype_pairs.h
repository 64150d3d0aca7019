// For networks that mix int8 and uint8 (--qdq all): makes uint8 of int8 between QuantizeLinear
// and DequantizeLinear. Both get a zero point that is 128 more, so each of the 256 floats that
// DequantizeLinear can give stays the same bit for bit, and groups have the one type that integer
// operators need. ONNX Runtime does this on x86-64 where the integers have one reader
// (docs/spec/qdq.md section 8.1).
//
// Requires and keeps a resolved graph. Left as they are: integers that are inputs or outputs of the
// network or have other readers, and networks without uint8, which are of one type already.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// Returns how many tensors changed their type.
int retype_pairs(Graph& graph);

}  // namespace etch
