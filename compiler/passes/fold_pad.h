// Pads that only surround the input of a convolution or pooling become its own padding, which
// costs nothing: the kernels skip positions outside, or read a halo.
//
// A constant Pad of spatial axes, read by nothing else, is taken over by
//   QLinearConv, ConvInteger   when it pads with the input's zero point
//   Conv                       with 0
//   AveragePool, QLinearAveragePool   with 0 or the zero point, by counting the padding; not where
//                              one window covers everything, which is computed in another way
//   MaxPool                    with the least value of the type
// unless they pad by themselves with auto_pad SAME. One before a DynamicQuantizeLinear stays: in a
// range so small that the scale is 0, its zeros are not quantized to the zero point. Requires and
// keeps a resolved graph, but leaves dead nodes.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void fold_pads(Graph& graph);

}  // namespace etch
