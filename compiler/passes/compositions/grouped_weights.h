// MatMulNBits (com.microsoft) with g_idx, as GPTQ with "desc_act" writes it: the value at depth k
// has the scale of block g_idx[k], not of block k / block_size. Written as Gather of the columns of
// A and a MatMulNBits without g_idx, whose B is sorted so that each block has its own values, in
// the order of k. Rows stay floats whatever accuracy_level says, as in ONNX Runtime 1.32 on a CPU.
// It leaves out zero_points there, and computes something else with 2 bits: both are refused.
#pragma once

#include "compiler/passes/compositions/parts.h"

namespace etch {

bool has_grouped_weights(const Graph& graph, const Node& node);
void write_grouped_weights(Parts& parts);

}  // namespace etch
