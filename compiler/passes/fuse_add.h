// A QLinearAdd takes over the convolution that makes one of its summands and is read by nothing
// else: the sum then runs in the convolution's epilogue and the summand is never in memory.
//
// QLinearConv with constant parameters and one group + QLinearAdd of two tensors of one shape with
// constant scales, which takes the convolution's result with the scale and zero point that the
// convolution gives it -> org.etch QLinearConvAdd. When convolutions make both summands, the later
// one is taken. Requires and keeps a resolved graph.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void fuse_adds(Graph& graph);

}  // namespace etch
