// What a tile of a convolution costs: cycles, or instructions of 64-bit Arm, estimated from the
// ISA's traits (docs/decisions). tiles.h chooses by it.
#pragma once

#include <cstdint>
#include <vector>

#include "templates/kernels/conv/conv.h"

namespace etch {

// Weights of a block up to this size stay in the L1 cache from tile to tile; larger ones come from
// L2.
constexpr std::int64_t kNearWeights = 24 * 1024;
// A tile whose products are at most this many instructions stays straight-line (micro-op cache).
constexpr double kStraightLineProducts = 400;

// Accumulators of a tile of rows x cols pixels, and whether the registers take them.
int accumulators_of(const ChannelBlock& block, int rows, int cols);
bool fits_registers(const IsaTraits& isa, const ChannelBlock& block, int rows, int cols);

// Calls body(row span, column span) for the tiles of a region that are alike.
template <class Body>
void each_span(const ConvRegion& region, int rows, int cols, Body body) {
  const TapAxis* const row_taps = region.grid ? &region.grid->rows : nullptr;
  const TapAxis* const col_taps = region.grid ? &region.grid->cols : nullptr;
  const std::vector<TileSpan> col_spans = tiles_along(col_taps, region.cols, cols);
  for (const TileSpan& r : tiles_along(row_taps, region.rows, rows)) {
    for (const TileSpan& c : col_spans) body(r, c);
  }
}

// Cycles of a whole region for all blocks with tiles of rows x cols pixels.
double region_cycles(const IsaTraits& isa, const ConvRegion& region,
                     const std::vector<ChannelBlock>& blocks, int rows, int cols);

}  // namespace etch
