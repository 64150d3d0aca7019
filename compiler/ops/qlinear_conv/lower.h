// What operators share that lower a QLinearConv, alone or with more after it.
#pragma once

#include <optional>

#include "compiler/kernels/conv/problem.h"
#include "compiler/lower/lowering.h"
#include "compiler/ops/qlinear_conv/op.h"

namespace etch {

// Whether the inputs of QLinearConv but x are known at compile time, and x is not.
bool has_constant_parameters(const Lowering& lowering, const Node& node,
                             const QLinearConvParams& params);

// The convolution of such a node; memory for its output is made here.
ConvProblem qlinear_conv_problem(Lowering& lowering, const Node& node,
                                 const QLinearConvParams& params);

// The halo that spares a convolution with input 0 of `node` border code.
std::optional<HaloWish> qlinear_conv_halo(const Graph& graph, const Node& node,
                                          const QLinearConvParams& params);

// Which layout it wants for its tensors.
LayoutRule qlinear_conv_layout(const QLinearConvParams& params);

}  // namespace etch
