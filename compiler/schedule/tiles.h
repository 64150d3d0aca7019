// Choosing tiles by the cost model of docs/decisions (cycles per group of 4 bytes of K from the
// ISA's traits): how many output channels a block has, how many pixels a tile covers, and
// whether pixels or channels are the outer loop.
#pragma once

#include <string>
#include <vector>

#include "templates/kernels/conv.h"

namespace etch {

// Splits `channels` output channels of one group into blocks of at most `vectors` vectors.
std::vector<ChannelBlock> split_channels(const IsaTraits& isa, int channels, int vectors);

// Code that would grow beyond about 1,800 statements is unrolled less, then gets smaller tiles.
// Sets plan.blocks, lanes_per_group, the regions' tiles, order and unrolling. Regions must have
// their extents and runs. `channels` is per group.
void choose_tiles(ConvPlan& plan, const IsaTraits& isa, int channels);

// What was chosen, for reports: "3 x 4 pixels x 16 channels, K straight, pixels outside".
std::string describe_tiles(const ConvPlan& plan);

}  // namespace etch
