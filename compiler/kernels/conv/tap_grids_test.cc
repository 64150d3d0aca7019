// Every tile of every small convolution computes just the products whose tap is on the image,
// with that tap's weights, and starts from the biases of these taps.
#include "compiler/kernels/conv/tap_grids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/tiles.h"
#include "templates/isa/avx512_vnni/traits.h"

namespace etch {
namespace {

constexpr std::int64_t kChannels = 8;
constexpr int kGroups = 2;

ConvAxis make_axis(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                   std::int64_t begin, std::int64_t end) {
  ConvAxis axis;
  axis.in = in;
  axis.kernel = kernel;
  axis.stride = stride;
  axis.dilation = dilation;
  axis.pad_begin = begin;
  axis.pad_end = end;
  axis.out = (in + begin + end - ((kernel - 1) * dilation + 1)) / stride + 1;
  return axis;
}

// Axes with an output, each of whose positions reads the image.
std::vector<ConvAxis> all_axes() {
  std::vector<ConvAxis> out;
  for (const std::int64_t in : {1, 2, 3, 5, 7}) {
    for (const std::int64_t kernel : {1, 2, 3, 5}) {
      for (const std::int64_t stride : {1, 2}) {
        for (const std::int64_t dilation : {1, 2}) {
          for (const auto& [begin, end] : {std::pair{0, 0}, {1, 1}, {0, 1}, {2, 1}, {2, 2}}) {
            if (in + begin + end >= (kernel - 1) * dilation + 1)
              out.push_back(make_axis(in, kernel, stride, dilation, begin, end));
          }
        }
      }
    }
  }
  return out;
}

bool on_image(const ConvAxis& axis, std::int64_t position, std::int64_t tap) {
  const std::int64_t input = position * axis.stride + tap * axis.dilation - axis.pad_begin;
  return input >= 0 && input < axis.in;
}

using TapNumbers = std::vector<int>;

// The taps that one tile multiplies each of its pixels with, and how often.
class TileTaps {
 public:
  TileTaps(const TapGrid& grid, const TileSpan& rows, const TileSpan& cols)
      : grid_(grid), pattern_(pattern_of(grid, rows, cols)), cols_(cols.size) {}

  // In order; a tap whose weights and bytes of x do not belong together counts as -1.
  TapNumbers of(int row, int col) const {
    TapNumbers out;
    for (const TileRun& run : pattern_.runs) {
      if (!run.pixels.has(row, col)) continue;
      for (int repeat = 0; repeat < run.k.repeat; ++repeat) {
        for (int group = 0; group < run.k.groups; group += kGroups)
          out.push_back(tap_at(run, repeat, group));
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  std::int64_t bias(int row, int col) const {
    const int at = row * cols_ + col;
    return pattern_.bias_shift + pattern_.bias[static_cast<std::size_t>(at)];
  }

 private:
  int tap_at(const TileRun& run, int repeat, int group) const {
    const std::int64_t weights =
        pattern_.weights_shift + run.weights + repeat * run.weights_step + group;
    const std::int64_t x =
        pattern_.x_shift + run.k.x_offset + repeat * run.k.repeat_step + std::int64_t{4} * group;
    const std::int64_t tap = weights / kGroups;
    const std::int64_t tap_x =
        tap / grid_.cols.taps * grid_.rows.x_step + tap % grid_.cols.taps * grid_.cols.x_step;
    return weights % kGroups == 0 && x == tap_x ? static_cast<int>(tap) : -1;
  }

  const TapGrid& grid_;
  TilePattern pattern_;
  int cols_;
};

void expect_exact(const TapGrid& grid, const ConvAxis& h, const ConvAxis& w, const TileSpan& rows,
                  const TileSpan& cols) {
  const TileTaps taps(grid, rows, cols);
  const auto sets = tap_sets(grid);
  for (int r = 0; r < rows.size; ++r) {
    for (int c = 0; c < cols.size; ++c) {
      TapNumbers expected;
      for (int tap = 0; tap < h.kernel * w.kernel; ++tap) {
        if (on_image(h, rows.first + r, tap / w.kernel) &&
            on_image(w, cols.first + c, tap % w.kernel))
          expected.push_back(tap);
      }
      ASSERT_EQ(taps.of(r, c), expected);
      ASSERT_EQ(taps.bias(r, c) % grid.bias_step, 0);
      ASSERT_EQ(sets[static_cast<std::size_t>(taps.bias(r, c) / grid.bias_step)], expected);
    }
  }
}

// Alike tiles follow one another, and tiles of one name have the same code.
void expect_shared_code(const TapGrid& grid, const TileSpan& rows, const TileSpan& cols,
                        std::map<std::string, TilePattern>& seen) {
  const TilePattern pattern = pattern_of(grid, rows, cols);
  const auto [it, inserted] = seen.emplace(cat(rows.size, "x", cols.size, pattern.name), pattern);
  if (inserted) return;
  const TilePattern& same = it->second;
  EXPECT_EQ(same.bias, pattern.bias);
  ASSERT_EQ(same.runs.size(), pattern.runs.size());
  const auto fields = [](const TileRun& run) {
    return std::tuple(run.k.x_offset, run.k.repeat, run.k.repeat_step, run.k.groups, run.weights,
                      run.weights_step, run.pixels.row, run.pixels.row_end, run.pixels.col,
                      run.pixels.col_end);
  };
  for (std::size_t i = 0; i < same.runs.size(); ++i)
    EXPECT_EQ(fields(same.runs[i]), fields(pattern.runs[i]));
}

void expect_all_tiles(const TapGrid& grid, const ConvAxis& h, const ConvAxis& w, int tile_rows,
                      int tile_cols) {
  std::map<std::string, TilePattern> seen;
  std::int64_t pixels = 0;
  for (const TileSpan& row : tiles_along(&grid.rows, static_cast<int>(h.out), tile_rows)) {
    for (const TileSpan& col : tiles_along(&grid.cols, static_cast<int>(w.out), tile_cols)) {
      expect_shared_code(grid, row, col, seen);
      for (int i = 0; i < row.count; ++i) {
        for (int j = 0; j < col.count; ++j) {
          const TileSpan at_row{row.first + i * row.size, row.size, 1};
          const TileSpan at_col{col.first + j * col.size, col.size, 1};
          expect_exact(grid, h, w, at_row, at_col);
          pixels += std::int64_t{row.size} * col.size;
        }
      }
    }
  }
  EXPECT_EQ(pixels, h.out * w.out);
}

ConvGeometry geometry_of(const ConvAxis& h, const ConvAxis& w) {
  ConvGeometry geometry;
  geometry.in_channels = geometry.out_channels = kChannels;
  geometry.axes = {h, w};
  return geometry;
}

std::optional<TapGrid> grid_of(const ConvAxis& h, const ConvAxis& w) {
  const std::int64_t row_bytes = (w.in + 8) * kChannels;
  return make_tap_grid(geometry_of(h, w), {h, row_bytes}, {w, kChannels}, 1);
}

TEST(TapGrids, TilesMultiplyJustTheTapsOnTheImage) {
  const std::vector<ConvAxis> axes = all_axes();
  int grids = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const ConvAxis& h = axes[i];
    const ConvAxis& w = axes[(i * 37 + 11) % axes.size()];
    std::optional<TapGrid> grid = grid_of(h, w);
    if (!grid) continue;
    ++grids;
    grid->bias_step = 16;
    for (const int tile_rows : {1, 2, 3}) {
      for (const int tile_cols : {1, 2, 3, 7}) expect_all_tiles(*grid, h, w, tile_rows, tile_cols);
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << i;
  }
  EXPECT_GT(grids, 100);
}

TEST(TapGrids, RowsOfOnePixelHeightShareTheirCodeAtTopAndBottom) {
  const ConvAxis axis = make_axis(7, 3, 1, 1, 1, 1);
  std::optional<TapGrid> grid = grid_of(axis, axis);
  ASSERT_TRUE(grid);
  std::set<std::string> names;
  for (const TileSpan& row : tiles_along(&grid->rows, 7, 1)) {
    const auto cols = tiles_along(&grid->cols, 7, 7);
    ASSERT_EQ(cols.size(), 1U);
    names.insert(pattern_of(*grid, row, cols.front()).name);
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"_cols1to3_0to3x5_0to2", "_rows0to2_cols1to3_0to3x5_0to2"}));
}

TEST(TapGrids, AreNotMadeWhereNothingLiesOnPadding) {
  const ConvAxis inner = make_axis(7, 3, 1, 1, 0, 0);
  EXPECT_FALSE(grid_of(inner, inner));
  // The last row of padding is never reached.
  const ConvAxis strided = make_axis(6, 3, 2, 1, 0, 0);
  EXPECT_FALSE(grid_of(strided, inner));
}

TEST(TapGrids, AreNotMadeForPixelsWithoutAnyTap) {
  const ConvAxis beyond = make_axis(3, 2, 1, 1, 3, 3);
  const ConvAxis inner = make_axis(7, 3, 1, 1, 1, 1);
  EXPECT_FALSE(grid_of(beyond, inner));
  EXPECT_FALSE(grid_of(inner, beyond));
}

// Whether tiles of a 3 x 3 convolution of square maps leave out taps on padding.
bool leaves_out_padding(int size, int channels) {
  const ConvAxis axis = make_axis(size, 3, 1, 1, 1, 1);
  ConvGeometry geometry = geometry_of(axis, axis);
  geometry.in_channels = channels;
  const std::int64_t row = std::int64_t{size + 2} * channels;
  ConvRegion region;
  region.rows = region.cols = size;
  region.x_row = row;
  region.x_col = channels;
  region.runs = {{0, 3, row, 3 * channels / 4}};
  region.grid = make_tap_grid(geometry, {axis, row}, {axis, channels}, 1);
  EXPECT_TRUE(region.grid);
  ConvPlan plan;
  plan.regions = {region};
  choose_tiles(plan, isa::k_avx512_vnni, channels);
  return plan.regions.front().grid.has_value();
}

TEST(TapGrids, AreKeptForATenthOfTheTimeOrManyCyclesForEachStatement) {
  EXPECT_TRUE(leaves_out_padding(8, 64));    // 13 %
  EXPECT_FALSE(leaves_out_padding(16, 32));  // 6 %, 1.3 cycles for each statement
  EXPECT_TRUE(leaves_out_padding(14, 256));  // 7 % of a long time
  EXPECT_FALSE(leaves_out_padding(56, 64));  // less than 3 %
}

TEST(TapGrids, NeedWholeGroupsOfChannelsThatTouch) {
  const ConvAxis axis = make_axis(7, 3, 1, 1, 1, 1);
  ConvGeometry geometry = geometry_of(axis, axis);
  EXPECT_TRUE(make_tap_grid(geometry, {axis, 128}, {axis, 8}, 1));
  EXPECT_FALSE(make_tap_grid(geometry, {axis, 128}, {axis, 8}, 49));
  geometry.in_channels = 6;
  EXPECT_FALSE(make_tap_grid(geometry, {axis, 128}, {axis, 6}, 1));
}

}  // namespace
}  // namespace etch
