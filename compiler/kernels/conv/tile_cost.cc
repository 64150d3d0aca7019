// See tile_cost.h.
#include "compiler/kernels/conv/tile_cost.h"

#include <algorithm>

namespace etch {

namespace {
// Weights that are not near come from L2 at this many bytes per cycle.
constexpr double kFarBytesPerCycle = 32;
// Of kLanes: where two loops or several are over a tile's products and its sums are more than
// these, g++ 12 copies them from register to register, so many for each step.
constexpr int kMostLoopSums = 16;
constexpr double kCopiesOfSums = 3;
constexpr int kLaneBytes = 16;  // of a pixel in a register
// Entering and leaving a loop over K, whose end is often mispredicted.
constexpr double kCyclesPerLoop = 10;

double group_cycles(const IsaTraits& isa, int pixels, int vectors) {
  const double products = isa.multiply_cycles * pixels * vectors;
  const bool shares_ports = !isa.broadcast_is_load;
  const double operands = isa.broadcast_cycles * (shares_ports ? pixels : pixels + vectors);
  const double issue = (pixels * vectors + pixels + vectors) / 4.0;
  return std::max({shares_ports ? products + operands : products, operands, issue, 5.0});
}
}  // namespace

int accumulators_of(const ChannelBlock& block, int rows, int cols) {
  if (block.form == BlockForm::kSquares) return (rows * cols + 1) / 2 * 2 * block.vectors;
  return rows * (block.form == BlockForm::kPairs ? (cols + 1) / 2 : cols) * block.vectors;
}

// Registers of kLanes hold the bytes of all pixels, of kSquares those of pairs.
bool fits_registers(const IsaTraits& isa, const ChannelBlock& block, int rows, int cols) {
  constexpr int kRegisters = 32, kOthers = 3;
  const int sums = accumulators_of(block, rows, cols);
  if (sums > isa.accumulators) return false;
  if (block.form == BlockForm::kLanes) return sums + rows * cols + kOthers <= kRegisters;
  return block.form != BlockForm::kSquares || sums + (rows * cols + 1) / 2 + kOthers <= kRegisters;
}

namespace {
// Instructions of a tile of kLanes or kSquares. Loads of weights go in pairs, more or less.
double tile_instructions(const IsaTraits& isa, const ConvRegion& region, const ChannelBlock& block,
                         const TileSpan& rows, const TileSpan& cols) {
  constexpr double kLoad = 0.6, kPerLoop = 6, kPerTile = 20, kPerResult = 6;
  const bool squares = block.form == BlockForm::kSquares;
  const int sums = accumulators_of(block, rows.size, cols.size);
  const std::vector<TileRun> runs = region.pattern(rows, cols, block.form).runs;
  const bool has_loops = runs.size() > 1 || (runs.size() == 1 && runs.front().k.repeat > 1);
  const bool is_copied =
      has_loops && sums > kMostLoopSums && region.groups() * sums > kStraightLineProducts;
  // Two of these are loaded by one instruction.
  const int pairs_side_by_side = region.x_col == kLaneBytes ? rows.size * (cols.size / 2) : 0;
  double sum = kPerTile + kPerResult * sums;
  if (squares) sum += sums;
  for (const TileRun& run : runs) {
    const int pixels = run.pixels.count();
    const int steps = run.k.groups;
    double once = kPerLoop;
    if (squares) {
      const int pairs = (pixels + 1) / 2;
      once += steps * (2 * pairs * block.vectors + pixels + kLoad * 2 * block.vectors);
    } else {
      once += steps * (isa.multiply_cycles * pixels * block.vectors + kLoad * block.vectors);
      if (is_copied) once += steps * kCopiesOfSums;
      const int loads = (steps + 3) / 4;
      once +=
          loads * (pixels * (isa.moved == 0 ? 1 : 2) - std::min(pairs_side_by_side, pixels / 2));
      if (isa.weights_in_pairs) once += steps * pixels;
    }
    sum += run.k.repeat * once;
  }
  return sum;
}

// What dot_sums16 and its operands cost, in the place of dot4.
IsaTraits with_sums16(IsaTraits isa) {
  isa.multiply_cycles = isa.sums16_cycles;
  isa.broadcast_is_load = true;
  return isa;
}

// Cycles of one tile. Taps on padding may split its runs, and every loop more has its price.
double tile_cycles(const IsaTraits& isa, const ConvRegion& region, const ChannelBlock& block,
                   const TileSpan& rows, const TileSpan& cols) {
  if (block.form == BlockForm::kLanes || block.form == BlockForm::kSquares)
    return tile_instructions(isa, region, block, rows, cols);
  if (block.form == BlockForm::kSums16 && !isa.broadcast_is_load)
    return tile_cycles(with_sums16(isa), region, block, rows, cols);
  const TilePattern pattern = region.pattern(rows, cols, block.form);
  const int vectors = block.vectors;
  const int pixels = accumulators_of(block, rows.size, cols.size) / vectors;
  const int packs = vectors >= 3 ? pixels : (pixels * vectors + 3) / 4;
  const std::int64_t weights = block.step_bytes(isa.weight_bytes());
  const bool far = region.groups() * weights > kNearWeights;
  const double stream = far ? static_cast<double>(weights) / kFarBytesPerCycle : 0;
  double cycles = packs * isa.epilogue_cycles + 14;
  int more_loops = 0;
  for (const TileRun& run : pattern.runs) {
    const double group = std::max(group_cycles(isa, run.pixels.count(), vectors), stream);
    cycles += run.k.repeat * run.k.groups * group;
    more_loops += run.k.repeat;
  }
  for (const KRun& run : region.runs) more_loops -= run.repeat;
  return cycles + kCyclesPerLoop * std::max(0, more_loops);
}
}  // namespace

double region_cycles(const IsaTraits& isa, const ConvRegion& region,
                     const std::vector<ChannelBlock>& blocks, int rows, int cols) {
  double sum = 0;
  each_span(region, rows, cols, [&](const TileSpan& r, const TileSpan& c) {
    double tile = 0;
    for (const ChannelBlock& block : blocks)
      tile += block.repeat * tile_cycles(isa, region, block, r, c);
    sum += r.count * c.count * tile;
  });
  return sum;
}

}  // namespace etch
