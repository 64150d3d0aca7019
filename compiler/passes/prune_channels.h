// Removes channels of 8-bit convolutions that no result depends on: all weights that read them are
// zero points, or they are constant (channel_ranges.h) and what they add goes into the bias of the
// convolution that reads them. Networks have many of them: filters that training drove to zero, and
// ReLUs that never let anything through.
//
// Requires: resolved nodes, operators as they will run. Ensures: the same outputs for every input,
// bit for bit: a removed channel adds 0, or the same integer modulo 2^32 for all pixels, to every
// accumulator. Tensors within the network get fewer channels, inputs and outputs of the network and
// of all other operators do not change.
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace etch {

// `granule`: tensors keep a multiple of so many channels, unless they had fewer than that more:
// kernels read whole groups of them.
inline constexpr std::int64_t kChannelGranule = 4;
void prune_channels(Graph& graph, std::int64_t granule = kChannelGranule);

}  // namespace etch
