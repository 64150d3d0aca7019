// Scales and zero points of every quantized tensor, gathered from the nodes, for reports.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/program/step.h"

namespace etch {

// Fills program.quantization from the operators that name scales and zero points as constants;
// what arrives at run time has no entry. `graph` is what will be lowered.
void describe_quantization(const Graph& graph, Program& program);

}  // namespace etch
