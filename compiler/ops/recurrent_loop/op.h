// RecurrentLoop (org.etch): what is left of a recurrent layer once the products of its input are
// known for all steps. passes/expand_recurrent.h makes it; no file has it. Inputs are those of
// LoopInput (compiler/kernels/recurrent/recurrent.h), outputs and parameters those of the layer
// (compiler/ops/recurrent/op.h).
#pragma once

#include "compiler/ops/recurrent/op.h"

namespace etch {

std::vector<Tensor> reference_recurrent_loop(const Node& node,
                                             std::span<const Tensor* const> inputs);
void lower_recurrent_loop(Lowering& lowering, const Node& node);

}  // namespace etch
