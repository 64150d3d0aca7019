// Tile choice by estimated cycles; see tiles.h.
#include "compiler/kernels/conv/tiles.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/padding.h"
#include "compiler/kernels/conv/tile_cost.h"

namespace etch {

namespace {
// Weights up to this size stay in the L1 and L2 caches while pixels move in the outer loop. Those
// of 16 bits are loaded twice as often, and only kNearWeights come fast enough.
constexpr std::int64_t kResidentWeights = 200 * 1024;
constexpr int kMostRowsOfTile = 4;
// Of a step, unless the user wants more.
constexpr std::int64_t kMostStatements = 1800;
// The same for --optimize size.
constexpr std::int64_t kMostForSize = 200;
constexpr double kLoopBodyProducts = 128;

bool is_for_size(const IsaTraits& isa) { return isa.objective == Objective::kSize; }
std::int64_t most_statements(const IsaTraits& isa) {
  return is_for_size(isa) ? kMostForSize : kMostStatements;
}
// By how much less than vectors take is spelled out. Portable code has a loop per group: unrolled,
// it runs out of registers, and is 9 to 21 % slower on Cortex-M3, RV32IMAC, RV64GC and ARMv7.
int least_divisor(const IsaTraits& isa) { return isa.vectorized && !is_for_size(isa) ? 1 : 1000; }

struct Shape2 {
  int rows = 1, cols = 1;
  double cycles = std::numeric_limits<double>::infinity();
};

// The fastest tile for all blocks together.
Shape2 best_tile(const IsaTraits& isa, const ConvRegion& region,
                 const std::vector<ChannelBlock>& blocks) {
  const auto fits = [&](int rows, int cols) {
    return std::ranges::all_of(
        blocks, [&](const ChannelBlock& block) { return fits_registers(isa, block, rows, cols); });
  };
  Shape2 best;
  for (int rows = 1; rows <= std::min(kMostRowsOfTile, region.rows); ++rows) {
    for (int cols = 1; cols <= region.cols && fits(rows, cols); ++cols) {
      const double cycles = region_cycles(isa, region, blocks, rows, cols);
      if (cycles < best.cycles) best = {rows, cols, cycles};
    }
  }
  ETCH_CHECK(best.cycles < std::numeric_limits<double>::infinity());
  return best;
}

int lanes_of(const std::vector<ChannelBlock>& blocks, const IsaTraits& isa) {
  int lanes = 0;
  for (const ChannelBlock& block : blocks) lanes += block.repeat * block.vectors * isa.lanes;
  return lanes;
}
}  // namespace

std::vector<ChannelBlock> split_channels(const IsaTraits& isa, int channels, int vectors) {
  std::vector<ChannelBlock> blocks;
  const int width = vectors * isa.lanes;
  const int full = channels / width;
  if (full > 0) blocks.push_back({0, 0, vectors, width, full});
  const int rest = channels % width;
  if (rest > 0) {
    const int needed = (rest + isa.lanes - 1) / isa.lanes;
    blocks.push_back({full * width, full * width, needed, rest, 1});
  }
  return blocks;
}

namespace {

// Pairs read the bytes of a pixel that may not be there; those have to be near.
constexpr std::int64_t kMostPairDistance = 48;

// Whether blocks of half a vector may have `form`, and compute less than in the other one.
bool half_form_pays(const ConvPlan& plan, BlockForm form) {
  return std::ranges::all_of(plan.regions, [&](const ConvRegion& region) {
    if (region.grid) return false;
    if (form == BlockForm::kSplit) return true;
    return region.x_col >= 4 && region.x_col <= kMostPairDistance &&
           region.groups(form) < 2 * region.groups(BlockForm::kSplit);
  });
}

// The forms of whole vectors that the plan may have.
std::vector<BlockForm> whole_forms(const ConvPlan& plan) {
  if (plan.sums16) return {BlockForm::kSums16};
  if (plan.bytes) return {BlockForm::kBytes};
  std::vector<BlockForm> out = {plan.lanes ? BlockForm::kLanes : BlockForm::kWhole};
  const bool even = std::ranges::all_of(plan.regions, [](const ConvRegion& region) {
    return !region.grid || region.grid->groups % 2 == 0;
  });
  if (plan.squares && even) out.push_back(BlockForm::kSquares);
  return out;
}

std::vector<ChannelBlock> with_form(std::vector<ChannelBlock> blocks, BlockForm form) {
  for (ChannelBlock& block : blocks) block.form = form;
  return blocks;
}

// Ways to divide `channels`: whole vectors, and with half a vector for the last channels.
std::vector<std::vector<ChannelBlock>> divisions(const ConvPlan& plan, const IsaTraits& isa,
                                                 int channels) {
  std::vector<std::vector<ChannelBlock>> out;
  const int rest = channels % isa.lanes;
  for (const int vectors : isa.vectors) {
    if (vectors == 0 || vectors > isa.accumulators) continue;
    for (const BlockForm form : whole_forms(plan)) {
      std::vector<ChannelBlock> whole = with_form(split_channels(isa, channels, vectors), form);
      const bool fits = std::ranges::all_of(whole, [&](const ChannelBlock& block) {
        return fits_registers(isa, block, 1, 1);  // squares have two sums for one pixel
      });
      if (fits) out.push_back(std::move(whole));
    }
    // Run-time packing and terms of pixels know whole vectors.
    if (plan.operands.weights >= 0 || plan.operands.row_terms >= 0) continue;
    if (!isa.broadcast_is_load || isa.lanes <= 4 || plan.out.kind == Requantize::Kind::kInt32)
      continue;
    if (rest == 0 || rest > isa.lanes / 2) continue;
    std::vector<ChannelBlock> blocks = split_channels(isa, channels - rest, vectors);
    for (const BlockForm form : {BlockForm::kSplit, BlockForm::kPairs}) {
      if (!half_form_pays(plan, form)) continue;
      out.push_back(blocks);
      out.back().push_back({channels - rest, channels - rest, 1, rest, 1, form});
    }
  }
  return out;
}

struct ConvShape {
  std::vector<ChannelBlock> blocks;
  std::vector<Shape2> tiles;  // of each region
  double cycles = std::numeric_limits<double>::infinity();
};

ConvShape fastest_with(const ConvPlan& plan, const IsaTraits& isa,
                       std::vector<ChannelBlock> blocks) {
  ConvShape shape{std::move(blocks), {}, 0};
  for (const ConvRegion& region : plan.regions) {
    shape.tiles.push_back(best_tile(isa, region, shape.blocks));
    shape.cycles += region.planes * shape.tiles.back().cycles;
  }
  return shape;
}

void set_shape(ConvPlan& plan, const IsaTraits& isa, const ConvShape& shape) {
  plan.blocks = shape.blocks;
  for (std::size_t r = 0; r < shape.tiles.size(); ++r) {
    plan.regions[r].tile_rows = shape.tiles[r].rows;
    plan.regions[r].tile_cols = shape.tiles[r].cols;
  }
  plan.lanes_per_group = lanes_of(plan.blocks, isa);
}

// Sets the fastest blocks and tiles for an ISA with isa.accumulators registers; their cycles.
double choose_shape(ConvPlan& plan, const IsaTraits& isa, int channels) {
  ConvShape best;
  for (const std::vector<ChannelBlock>& blocks : divisions(plan, isa, channels)) {
    ConvShape shape = fastest_with(plan, isa, blocks);
    if (shape.cycles < best.cycles) best = std::move(shape);
  }
  set_shape(plan, isa, best);
  return best.cycles;
}

// At most `limit` groups per iteration, without a rest where half as many or more do: a rest needs
// registers and code of its own.
int evenly(const ConvPlan& plan, int limit) {
  const auto leaves_no_rest = [&](int unroll) {
    return std::all_of(plan.regions.begin(), plan.regions.end(), [&](const ConvRegion& region) {
      return std::all_of(region.runs.begin(), region.runs.end(),
                         [&](const KRun& run) { return run.groups % unroll == 0; });
    });
  };
  if (plan.blocks.front().form == BlockForm::kLanes) {  // a register holds 4 groups
    for (int unroll = limit / 4 * 4; unroll > 4; unroll -= 4) {
      if (leaves_no_rest(unroll)) return unroll;
    }
    return 4;
  }
  for (int unroll = limit; 2 * unroll >= limit && unroll > 0; --unroll) {
    if (leaves_no_rest(unroll)) return unroll;
  }
  return limit;
}

// How much of K a tile's body spells out; `divisor` > 1 spells out less than would be fastest.
void unroll_by_rule(ConvPlan& plan, const IsaTraits& isa, int divisor) {
  int largest = 1;
  for (const ConvRegion& region : plan.regions) {
    largest =
        std::max(largest, accumulators_of(plan.blocks.front(), region.tile_rows, region.tile_cols));
  }
  const double each = plan.lanes ? 1 : std::max(1.0, isa.multiply_cycles);
  const double instructions = largest * each;  // per 4 bytes of K
  plan.straight_line = static_cast<int>(kStraightLineProducts / instructions / divisor);
  plan.unroll =
      evenly(plan, std::max(1, static_cast<int>(kLoopBodyProducts / instructions / divisor)));
}

// Groups of 4 bytes of a run that a tile's body spells out.
std::int64_t spelled_groups(const ConvPlan& plan, const ConvRegion& region, BlockForm form,
                            const KRun& run) {
  if (region.groups(form) <= plan.straight_line) return std::int64_t{run.repeat} * run.groups;
  return run.groups <= plan.unroll ? run.groups : plan.unroll + run.groups % plan.unroll;
}

// Statements of the function of one tile.
std::int64_t tile_statements(const ConvPlan& plan, const ConvRegion& region,
                             const ChannelBlock& block, const TilePattern& pattern, int pixels) {
  const int vectors = block.vectors;
  constexpr std::int64_t kPerTile = 16, kPerResult = 4;
  std::int64_t sum = kPerTile + kPerResult * pixels * vectors;
  for (const TileRun& run : pattern.runs) {
    const std::int64_t here = run.pixels.count();
    sum += spelled_groups(plan, region, block.form, run.k) * (here * vectors + here + vectors);
  }
  return sum;
}

}  // namespace

Statements statements_of(const ConvPlan& plan) {
  Statements out;
  for (const ConvRegion& region : plan.regions) {
    std::map<std::string, std::int64_t> functions;  // by size and taps
    each_span(
        region, region.tile_rows, region.tile_cols, [&](const TileSpan& r, const TileSpan& c) {
          for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
            const ChannelBlock& block = plan.blocks[b];
            const TilePattern pattern = region.pattern(r, c, block.form);
            const std::int64_t one = tile_statements(plan, region, block, pattern, r.size * c.size);
            functions[cat(b, "_", r.size, "x", c.size, pattern.name)] = one;
            out.longest_tile = std::max(out.longest_tile, one);
          }
        });
    for (const auto& [name, statements] : functions) out.step += statements;
  }
  return out;
}

void choose_tiles_for(ConvPlan& plan, const IsaTraits& isa, int channels, int vectors) {
  ConvShape best;
  for (const BlockForm form : whole_forms(plan)) {
    ConvShape shape =
        fastest_with(plan, isa, with_form(split_channels(isa, channels, vectors), form));
    if (shape.cycles < best.cycles) best = std::move(shape);
  }
  set_shape(plan, isa, best);
}

void choose_unrolling(ConvPlan& plan, const IsaTraits& isa) {
  for (const int divisor : {1, 2, 4, 1000}) {
    if (divisor < least_divisor(isa)) continue;
    unroll_by_rule(plan, isa, divisor);
    if (statements_of(plan).step <= most_statements(isa)) return;
  }
}

double estimated_cycles(const ConvPlan& plan, const IsaTraits& isa) {
  double cycles = 0;
  for (const ConvRegion& region : plan.regions) {
    cycles +=
        region.planes * region_cycles(isa, region, plan.blocks, region.tile_rows, region.tile_cols);
  }
  return cycles;
}

std::size_t largest_region(const ConvPlan& plan) {
  const auto by_work = [](const ConvRegion& a, const ConvRegion& b) {
    return std::int64_t{a.planes} * a.rows * a.cols < std::int64_t{b.planes} * b.rows * b.cols;
  };
  const auto largest = std::ranges::max_element(plan.regions, by_work);
  return static_cast<std::size_t>(largest - plan.regions.begin());
}

namespace {

struct Effort {
  int accumulator_divisor;
  int unroll_divisor;
};

struct Choice {
  double cycles = 0;
  Effort effort{1, 1};
};

// From the fastest code, or from `most`, to the shortest, until the step's function fits.
Choice choose_for_size(ConvPlan& plan, const IsaTraits& isa, int channels, Effort most = {1, 1}) {
  Choice choice;
  for (const Effort effort :
       {Effort{1, 1}, {1, 2}, {1, 4}, {1, 1000}, {2, 1000}, {4, 1000}, {1000, 1000}}) {
    if (effort.unroll_divisor < most.unroll_divisor) continue;
    IsaTraits limited = isa;
    limited.accumulators = std::max(1, isa.accumulators / effort.accumulator_divisor);
    choice = {choose_shape(plan, limited, channels), effort};
    unroll_by_rule(plan, isa, effort.unroll_divisor);
    if (statements_of(plan).step <= most_statements(isa)) break;
  }
  return choice;
}

// Leaves out taps on padding (the regions' grids) or multiplies them, whichever is faster. Without
// vectors flash is worth more: the tiles of borders would make the code two to three times as
// large.
void choose_taps(ConvPlan& plan, const IsaTraits& isa, int channels) {
  const bool possible = std::any_of(plan.regions.begin(), plan.regions.end(),
                                    [](const ConvRegion& r) { return r.grid.has_value(); });
  ConvPlan sparing = plan;
  for (ConvRegion& region : plan.regions) region.grid.reset();
  const Choice whole = choose_for_size(plan, isa, channels, {1, least_divisor(isa)});
  if (!possible || !isa.vectorized || is_for_size(isa)) return;
  const Choice spared = choose_for_size(sparing, isa, channels, {1, 2});
  const bool fits = spared.effort.accumulator_divisor == 1 && spared.effort.unroll_divisor <= 4;
  if (!fits) return;
  if (padding_pays({spared.cycles, statements_of(sparing).step},
                   {whole.cycles, statements_of(plan).step})) {
    plan = std::move(sparing);
  }
}

void choose_order(ConvPlan& plan, const IsaTraits& isa) {
  const int vector_bytes = plan.blocks.front().vector_bytes(isa.weight_bytes());
  std::int64_t weights = 0;
  for (const ConvRegion& region : plan.regions)
    weights += std::int64_t{region.groups()} * plan.lanes_per_group / isa.lanes * vector_bytes;
  const bool in_words = isa.weight_form == WeightForm::kS16EvenOdd && !plan.bytes;
  const std::int64_t resident = in_words || plan.sums16 ? kNearWeights : kResidentWeights;
  plan.order = weights <= resident ? LoopOrder::kPixelsOutside : LoopOrder::kChannelsOutside;
}

}  // namespace

void choose_tiles(ConvPlan& plan, const IsaTraits& isa, int channels) {
  choose_taps(plan, isa, channels);
  choose_order(plan, isa);
}

void choose_common_tiles(ConvPlan& plan, const IsaTraits& isa, int channels) {
  constexpr int kMany = 5040;  // no tile leaves a rest
  constexpr int kManyGroups = 64;
  const bool run_time = plan.operands.weights >= 0;
  for (ConvRegion& region : plan.regions) region.grid.reset();
  ConvPlan many = plan;
  for (ConvRegion& region : many.regions) {
    region.cols = kMany;
    if (region.rows > 1) region.rows = kMany;
    for (KRun& run : region.runs)
      if (run_time) run.groups = kManyGroups;
  }
  choose_for_size(many, isa, run_time ? kMany : channels, {1, least_divisor(isa)});
  const ChannelBlock& block = many.blocks.front();
  plan.blocks =
      run_time ? with_form(split_channels(isa, channels, block.vectors), block.form) : many.blocks;
  plan.lanes_per_group = lanes_of(plan.blocks, isa);
  for (std::size_t r = 0; r < plan.regions.size(); ++r) {
    ConvRegion& region = plan.regions[r];
    region.tile_rows = std::min(many.regions[r].tile_rows, region.rows);
    region.tile_cols = std::min(many.regions[r].tile_cols, region.cols);
  }
  // K of run-time weights is spelled out for no size.
  plan.straight_line = run_time ? 0 : many.straight_line;
  plan.unroll = run_time ? 1 : many.unroll;
  if (run_time) {
    plan.order = LoopOrder::kPixelsOutside;
  } else {
    choose_order(plan, isa);
  }
}

std::string describe_tiles(const ConvPlan& plan) {
  const ConvRegion& largest = plan.regions[largest_region(plan)];
  std::string out = cat(largest.tile_rows, " x ", largest.tile_cols, " ",
                        plural(std::int64_t{largest.tile_rows} * largest.tile_cols, "pixel"), " x ",
                        counted(plan.blocks.front().channels, "channel"), ", K ");
  const int groups = largest.groups(plan.blocks.front().form);
  const bool straight = groups <= plan.straight_line;
  out += straight ? cat("straight (", counted(groups, "group"), ")")
                  : cat("unrolled by ", plan.unroll, " of ", counted(groups, "group"));
  if (plan.blocks.back().form == BlockForm::kSplit) out += ", half a vector with K split in two";
  if (plan.blocks.back().form == BlockForm::kPairs) out += ", half a vector for pairs of pixels";
  out += plan.order == LoopOrder::kPixelsOutside ? ", pixels outside" : ", channels outside";
  if (largest.grid) out += ", without taps on padding";
  if (plan.regions.size() > 1)
    out += cat(", ", counted(static_cast<std::int64_t>(plan.regions.size()), "region"));
  return out;
}

}  // namespace etch
