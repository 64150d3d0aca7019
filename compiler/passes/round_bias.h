// Float biases of QDQ groups that stay float. Before a QuantizeLinear, ONNX Runtime rounds the
// constant float bias of Conv, ConvTranspose and Gemm to whole units of x_scale * w_scale also
// where no integer operator comes of the group, as of int8 beside uint8 (docs/spec/qdq.md section
// 8.3). So the bias becomes fl(int32(rne(fl(bias / unit))) * unit) with unit = fl(x_scale *
// w_scale).
//
// Requires and keeps a resolved graph. Runs when no group is left that becomes integer.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

// Returns how many biases were rounded.
int round_biases(Graph& graph);

}  // namespace etch
