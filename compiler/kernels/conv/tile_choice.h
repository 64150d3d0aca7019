// A convolution's tile, loop order and unrolling as a value: what a tuning file says instead of
// tiles.h, and what `etch tune` tries.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernels/conv/unrolling.h"
#include "templates/isa/traits.h"

namespace etch {

struct ConvPlan;
enum class LoopOrder;

struct TileChoice {
  int rows = 1, cols = 1;  // pixels of a tile in the largest region
  int vectors = 1;         // of a block of channels
  LoopOrder order{};       // the first one: pixels outside
  Unrolling unrolling;
  bool operator==(const TileChoice&) const = default;
};

// Why kernels for this instruction set cannot have such a tile; empty if they can.
std::string fault_of(const TileChoice& choice, const IsaTraits& isa);

// Sets what choose_tiles() sets. The other regions, borders mostly, get the model's fastest tiles
// for the same blocks. Tiles larger than the region and blocks of more channels than there are
// become smaller. False if the code would be too long; then the plan is not to be used.
bool apply_choice(ConvPlan& plan, const IsaTraits& isa, int channels, const TileChoice& choice);

// The choice that a plan with tiles comes from, its unrolling in numbers.
TileChoice choice_of(const ConvPlan& plan);

// What could be faster than the plan's own tiles: at most `most` choices, the most promising first,
// all different from each other and from the plan: other shapes that the cost model thinks well of,
// the other loop order, and more and less unrolling.
std::vector<TileChoice> tile_candidates(const ConvPlan& plan, const IsaTraits& isa,
                                        std::size_t most);

// "tile=1x12 channels=32 outer=pixels unroll=auto".
std::string text_of(const TileChoice& choice, const IsaTraits& isa);

}  // namespace etch
