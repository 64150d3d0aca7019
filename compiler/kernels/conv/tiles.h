// Choosing tiles by the cost model of docs/decisions (cycles per group of 4 bytes of K from the
// ISA's traits): how many output channels a block has, how many pixels a tile covers, and
// whether pixels or channels are the outer loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "templates/kernels/conv/conv.h"

namespace etch {

// Splits `channels` output channels of one group into blocks of at most `vectors` vectors.
std::vector<ChannelBlock> split_channels(const IsaTraits& isa, int channels, int vectors);

// Code that would grow beyond about 1,800 statements is unrolled less, then gets smaller tiles.
// Portable code and Objective::kSize start with loops of one group, kSize with a limit of 200.
// Sets plan.blocks, lanes_per_group, the regions' tiles, order and unrolling. Regions must have
// their extents and runs. `channels` is per group.
void choose_tiles(ConvPlan& plan, const IsaTraits& isa, int channels);

// The same for a network that is compiled for several sizes: the choice depends neither on how many
// pixels there are nor, where weights come at run time, on their channels and K. Sizes then have
// most functions of tiles in common; each by itself could be some percent faster.
void choose_common_tiles(ConvPlan& plan, const IsaTraits& isa, int channels);

// Splits the channels into blocks of at most `vectors` vectors and gives every region the tile that
// is the fastest with them.
void choose_tiles_for(ConvPlan& plan, const IsaTraits& isa, int channels, int vectors);

// The rule for plan.unroll and plan.straight_line with the tiles that are set; within the 1,800
// statements as far as unrolling can help.
void choose_unrolling(ConvPlan& plan, const IsaTraits& isa);

// What the above reckon with: cycles of all regions, and statements of the whole step and of its
// longest tile, a little more than the Recorder will print.
double estimated_cycles(const ConvPlan& plan, const IsaTraits& isa);
struct Statements {
  std::int64_t step = 0, longest_tile = 0;
};
Statements statements_of(const ConvPlan& plan);

// The region with the most output pixels, whose tile describes the step.
std::size_t largest_region(const ConvPlan& plan);

// What was chosen, for reports: "3 x 4 pixels x 16 channels, K straight, pixels outside".
std::string describe_tiles(const ConvPlan& plan);

}  // namespace etch
