// Which channels of the file's convolutions are left after compiler/passes/prune_channels.h: told
// to who observes it (compiler/base/observation.h), for evidence.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace etch {

// Numbers of channels of the file's weights, ascending; empty: all are left.
struct KeptChannels {
  std::vector<std::int64_t> inputs, outputs;  // a depthwise convolution has outputs only
};

// By Node::index, of the convolutions that lost some.
using KeptChannelsLog = std::map<int, KeptChannels>;

}  // namespace etch
