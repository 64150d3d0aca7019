// What a convolution's kernel (conv.h) is told: regions of output pixels that share their taps,
// blocks of output channels, tiles, the order of the loops and how much of K is spelled out. Plain
// data with every size known; compiler/kernels/conv/portable/plan.cc fills it in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/etch_matmul.h"
#include "templates/kernels/conv/tap_function.h"
#include "templates/kernels/conv/tap_grid.h"
#include "templates/kernels/quantize/requantize.h"

namespace etch {

// How the lanes of a block share the work, and by which verb they multiply.
//   kWhole: a channel each, dot4 with a broadcast group; kSplit, kPairs: half_vectors.h;
//   kBytes: as kWhole, but weights are bytes in memory, which load_byte_w4 widens to words;
//   kLanes: as kWhole, but 16 bytes of a pixel are loaded at once, and dot4_lane takes a group;
//   kSquares: 2 pixels x 2 channels each, 8 bytes of K at a time by dot_squares (lane_tile.h);
//   kSums16: as kWhole, by dot_sums16. What of the weights does not fit it follows a panel's
//   weights as further groups (ConvRegion::rest), and these are followed by the places of their
//   bytes in x.
enum class BlockForm { kWhole, kSplit, kPairs, kBytes, kLanes, kSquares, kSums16 };
constexpr bool is_half(BlockForm form) {
  return form == BlockForm::kSplit || form == BlockForm::kPairs;
}

// Where the weights of a run are in a panel, in groups of 4 bytes.
struct WeightPlace {
  std::int64_t first = 0, step = 0;  // of its first repetition, and from one to the next
};

// `repeat` blocks of `vectors` vectors, of which the first `channels` lanes are stored.
struct ChannelBlock {
  int first = 0;       // output channel within the group
  int first_lane = 0;  // position in "bias" and "scale"
  int vectors = 1;
  int channels = 0;
  int repeat = 1;
  BlockForm form = BlockForm::kWhole;  // if is_half(): one vector, of at most L / 2 channels

  // Bytes of a vector of weights that has `weight_bytes` as dot4 takes it.
  int vector_bytes(int weight_bytes) const {
    const bool bytes = form == BlockForm::kBytes || form == BlockForm::kSums16;
    return bytes ? weight_bytes / 2 : weight_bytes;
  }
  // Bytes of weights of a step of the K loop.
  std::int64_t step_bytes(int weight_bytes) const {
    return std::int64_t{form == BlockForm::kSquares ? 2 : 1} * vectors * vector_bytes(weight_bytes);
  }
};

struct ConvRegion {
  std::int64_t x_offset = 0;  // bytes from operand x to the taps' origin of pixel (0, 0)
  std::int64_t y_offset = 0;  // elements from operand y to output pixel (0, 0)
  int planes = 1, rows = 1, cols = 1;
  std::int64_t x_plane = 0, x_row = 0, x_col = 0;  // bytes of x per output plane, row, column
  std::int64_t y_plane = 0, y_row = 0, y_col = 0;  // elements of y
  std::int64_t r_offset = 0;                       // bytes of the residual
  std::int64_t r_plane = 0, r_row = 0, r_col = 0;
  std::vector<KRun> runs;
  std::optional<TapGrid> grid;  // of the same taps, if tiles leave out those on padding
  std::int64_t weights = 0;     // bytes from the start of the group's weights
  // Of the runs, in the weights of another region with more taps, whose panels have so many groups.
  // Empty: the region has weights of its own, one run after the other.
  std::vector<WeightPlace> places;
  int shared_groups = 0;
  std::int64_t bias = 0;  // lanes from the start of "bias" (regions differ in their taps)
  int rest = 0;           // further groups of kSums16
  int reach = 0;          // bytes of x from the taps' origin to their end
  int tile_rows = 1, tile_cols = 1;

  // Steps of the K loop for one repetition of a run.
  int groups_of(const KRun& run, BlockForm form) const {
    if (form == BlockForm::kSplit || form == BlockForm::kSquares) return (run.groups + 1) / 2;
    if (form != BlockForm::kPairs) return run.groups;
    const auto behind = static_cast<int>(x_col) + run.bytes;  // the odd lanes' last byte
    return std::max(run.groups, (behind - 4 + 3) / 4);
  }
  int groups(BlockForm form = BlockForm::kWhole) const {
    int sum = 0;
    for (const KRun& run : runs) sum += run.repeat * groups_of(run, form);
    return sum;
  }
  // Groups of a panel: the weights of one block of channels.
  int panel_groups(BlockForm form) const { return places.empty() ? groups(form) : shared_groups; }
  // Bytes of a panel of the block; a vector of weights has `weight_bytes`.
  std::int64_t panel_bytes(const ChannelBlock& block, int weight_bytes) const {
    const std::int64_t step = block.step_bytes(weight_bytes);
    return panel_groups(block.form) * step + rest * step + bytes_of_places(block, weight_bytes);
  }
  // Of the rest's places: an int32 each, and then vectors of weights again.
  std::int64_t bytes_of_places(const ChannelBlock& block, int weight_bytes) const {
    const std::int64_t vector = block.vector_bytes(weight_bytes);
    return (4 * std::int64_t{rest} + vector - 1) / vector * vector;
  }
  // The taps of a tile at a place of the region; its pixels are pairs if the block's form says so.
  TilePattern pattern(const TileSpan& tile_row, const TileSpan& tile_col, BlockForm form) const {
    if (grid) return in_steps(pattern_of(*grid, tile_row, tile_col), form);
    TilePattern out;
    const int across = form == BlockForm::kPairs ? (tile_col.size + 1) / 2 : tile_col.size;
    std::int64_t weights_of_run = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      KRun k = runs[i];
      k.groups = groups_of(runs[i], form);
      const WeightPlace at = places.empty() ? WeightPlace{weights_of_run, k.groups} : places[i];
      out.runs.push_back({k, at.first, at.step, {0, tile_row.size, 0, across}});
      weights_of_run += std::int64_t{k.repeat} * k.groups;
    }
    out.bias.assign(static_cast<std::size_t>(tile_row.size) * static_cast<std::size_t>(across), 0);
    return out;
  }

 private:
  // Squares take two groups at a time; a tap on the grid has an even number.
  static TilePattern in_steps(TilePattern pattern, BlockForm form) {
    if (form != BlockForm::kSquares) return pattern;
    for (TileRun& run : pattern.runs) {
      run.k.groups /= 2;
      run.weights /= 2;
      run.weights_step /= 2;
    }
    pattern.weights_shift /= 2;
    return pattern;
  }
};

// Loops around the regions: batch and group.
struct ConvLoop {
  const char* name = "";
  int count = 1;
  std::int64_t x_step = 0;  // bytes
  std::int64_t y_step = 0;  // elements
  std::int64_t r_step = 0;  // bytes
  bool is_group = false;    // weights and constants advance too
};

enum class LoopOrder { kPixelsOutside, kChannelsOutside };

// Which operands of the step are what; -1: the constant of the same name, or nothing.
struct ConvOperands {
  int x = 0;
  int weights = -1;    // packed by the step itself: whole vectors only
  int start = -1;      // what is "bias" otherwise
  int row_terms = -1;  // a vector of equal int32 for every pixel, added to its start; of one row
  int y = 1;           // 2 if there is a residual, which is operand 1
};

struct ConvPlan {
  std::vector<ConvLoop> axes;
  std::vector<ConvRegion> regions;
  std::vector<ChannelBlock> blocks;
  int lanes_per_group = 0;             // entries of "bias" and "scale" per group
  std::int64_t weights_per_group = 0;  // bytes
  ConvOperands operands;
  // Computed first, from x and the constant "addend" (0, and 128 minus the addend of all weights).
  std::optional<rt::RowTerms> terms;
  std::optional<AddResidual> add;  // operand 1 is the residual
  LoopOrder order = LoopOrder::kPixelsOutside;
  bool prefetch = false;  // the next block's weights, while one is computed (channels outside only)
  bool bytes = false;     // blocks have this form
  bool sums16 = false;    // blocks are of kSums16
  bool lanes = false, squares = false;  // whether blocks may have the forms of these names
  int unroll = 4;                       // groups of 4 bytes per iteration of the K loop
  int straight_line = 64;               // groups up to which a whole tile has no K loop
  Requantize out;
};

}  // namespace etch
