// What leaving out channels of convolutions saves (compiler/passes/prune_channels.h). The pass
// writes it, reports show it; nothing else depends on it.
#pragma once

#include <cstdint>

namespace etch {

struct PrunedChannels {
  std::int64_t removed = 0, of = 0;         // output channels
  std::int64_t macs_removed = 0, macs = 0;  // multiplications, `macs` before
};

}  // namespace etch
