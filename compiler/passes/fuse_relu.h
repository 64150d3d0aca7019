// A float Conv takes over the Relu of its result, or the Clip to 0 and a constant (ReLU6), if
// nothing else reads the result: its last step then limits what it stores, and a pass over the
// whole tensor is saved. So it does with a constant per channel that is added to it, if it has no
// bias: a bias is added last, so no bit changes. CNTK and other exporters of old write biases so.
//
// Conv + Add -> Conv, Conv + Relu or Clip -> org.etch ConvRelu. Requires and keeps a resolved
// graph.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void fuse_relus(Graph& graph);

}  // namespace etch
