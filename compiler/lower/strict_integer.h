// Floats that remain once a network has been lowered: what --strict-integer refuses, and what
// targets without an FPU warn of.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/program/step.h"

namespace etch {

// E-UNSUPPORTED for every node from quantized values to quantized values that is computed with
// floats, and for every one with channels that can only be requantized by emulating floats. Nodes
// that take or give floats, as a network's quantization of its inputs does, may use them.
void refuse_floats(const Graph& graph, const Program& program, Sink& sink);

// One warning if any node is computed with floats, for targets that have them in software only:
// exact, but slow.
void warn_of_floats(const Graph& graph, const Program& program, Sink& sink);

// Whether the code needs an FPU to be fast: a step computes with floats, or calls assembly that
// does.
bool needs_floats(const Program& program);

}  // namespace etch
