// Streams the first blocks of a network in bands of rows (patch-wise): the operators from the input
// to some convolution run band by band, so that of all tensors between them only a few rows exist
// at a time. Unlike split_rows.h, which helps caches, it follows residual branches and takes in the
// quantization of the input; rows that bands share are computed again. For networks whose arena has
// to be small (docs/decisions/0013-streams-are-tried.md).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

// One way to stream: everything that only `last` needs, `last` included, in bands of `rows` rows of
// its output.
struct RowStream {
  std::size_t last = 0;  // index into Graph::nodes
  std::int64_t rows = 0;
  std::int64_t bands = 0;
  std::int64_t repeated_macs = 0;
  std::int64_t estimate = 0;  // bytes live at once, roughly
};

// The ways that exist for a graph whose operators are those that will be lowered, with at most
// `most_repeated` times the network's MACs computed again, the least estimate first; at most
// `most`. Suitable operators are QLinearConv and QLinearConvAdd of batch 1 (channels first, two
// spatial axes, constant parameters), QLinearAdd of equal shapes and QuantizeLinear with one scale.
std::vector<RowStream> row_streams(const Graph& graph, double most_repeated, std::size_t most);

// Rewrites the graph to run like that; exact by construction. `stream` comes from row_streams() of
// an equal graph.
void stream_rows(Graph& graph, const RowStream& stream);

}  // namespace etch
