// Lets a network whose input is quantized take float32 instead: a QuantizeV2 node
// (docs/spec/quantize_v2.md) is put between the new input and what used to be the input. Runs right
// after import, so that everything after it sees an ordinary node with constant ranges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/quantize_v2/range.h"

namespace etch {

// What --quantize-input says.
struct QuantizeInput {
  std::string name;  // of a graph input
  RangeMode mode = RangeMode::kMinCombined;
  float min = 0, max = 0;     // real values; checked by QuantizeV2 itself
  std::optional<DType> type;  // must be the input's own
};

// E-NAME: no such input, or named twice. E-TYPE: the input is not of one of QuantizeV2's types, or
// not of the one asked for.
void quantize_inputs(Graph& graph, const std::vector<QuantizeInput>& inputs, Sink& sink);

}  // namespace etch
