// QuantizeLinear and DequantizeLinear, of ai.onnx or com.microsoft, with one scale of +infinity, as
// quantizers write it for masks of attention with -infinity. As ONNX Runtime computes them, without
// that any pass after resolving meets such a scale:
//   QuantizeLinear      division by infinity, then with the scale 1: the zero point where x is
//                       finite, else what NaN gives
//   DequantizeLinear    with the scale 1, then times infinity: NaN at the zero point, else infinite
#pragma once

#include "compiler/passes/compositions/rules.h"

namespace etch {

// Null for all other nodes.
const Rule* infinite_scale_rule(const Graph& graph, const Node& node);

}  // namespace etch
