// Slices that only crop what a convolution makes become other padding of it, so that nothing is
// computed for what is cut off, and what follows is fused as if there were no Slice.
//
// Causal convolutions are exported so: padded by (kernel - 1) * dilation at both ends and then
// relieved of as many positions at the end; and causal or odd transposed convolutions, which make
// too much at their ends.
//   Conv, QLinearConv, ConvInteger, QLinearConv16       less padding; never less than none
//   ConvTranspose, QLinearConvTranspose and ...16       more padding
// Between it and the Slice there may be operators on single elements whose other operands are the
// same along the axes that are cut, as dynamic quantization has them. Nothing else may read what is
// cut. A node that pads by itself (auto_pad SAME, output_shape) stays.
// Requires and keeps a resolved graph, but leaves dead values.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void fold_slices(Graph& graph);

}  // namespace etch
