// The user's view of the graph's inputs and outputs.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/program/step.h"

namespace etch {

// Fills program.inputs and program.outputs. An 8-bit port that a DequantizeLinear reads or an
// operator with a known scale writes gets that scale and zero point.
void describe_ports(const Graph& graph, Program& program);

}  // namespace etch
