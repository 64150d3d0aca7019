// The stages of the kernel families one by one: what they plan, in which order they pack, and how
// far an output may run over its input.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "compiler/kernels/conv/overlap.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/portable/pack.h"
#include "compiler/kernels/conv/portable/plan.h"
#include "compiler/kernels/conv/winograd/pack.h"
#include "templates/isa/scalar/traits.h"
#include "tests/support/views.h"

namespace etch {
namespace {

// Of an image of `size` x `size` pixels, without a halo, with accumulators as the output.
ConvProblem square(std::int64_t size, int kernel, int in, int out) {
  ConvProblem problem;
  ConvGeometry& g = problem.geometry;
  g.in_channels = in;
  g.out_channels = out;
  const std::int64_t pad = kernel / 2;
  g.axes.assign(2, {size, kernel, 1, 1, pad, pad, size});
  problem.x = channels_last_view({1, in, size, size}, DType::kU8);
  problem.y = channels_last_view({1, out, size, size}, DType::kS32);
  for (int i = 0; i < out * kernel * kernel * in; ++i) problem.weights.push_back(i % 251 - 125);
  problem.bias.assign(static_cast<std::size_t>(out), 0);
  return problem;
}

TEST(ConvStages, PartsOfAWeightAddUpToIt) {
  for (int weight = -255; weight <= 255; ++weight) {
    ConvProblem problem;
    problem.weights = {weight};
    const WeightParts parts = parts_needed(problem, isa::k_scalar);
    int sum = 0;
    for (int part = 0; part < parts.count; ++part) {
      const int each = parts.of(weight, part);
      EXPECT_GE(each, -128);
      EXPECT_LE(each, 127);
      sum += each;
    }
    EXPECT_EQ(sum, weight);
  }
}

TEST(ConvStages, OnlyGroupsWithAWideWeightAreMultipliedTwice) {
  ConvProblem problem = square(5, 1, 32, 8);
  const PlannedConv narrow = plan_conv(problem, isa::k_scalar, {});
  ASSERT_EQ(narrow.taps.size(), 1U);
  EXPECT_EQ(narrow.taps[0].k.size(), 32U);
  problem.weights[3 * 32 + 13] = 200;  // channel 13, in the group of 12 to 15
  const PlannedConv wide = plan_conv(problem, isa::k_scalar, {});
  EXPECT_EQ(wide.parts.count, 2);
  EXPECT_EQ(wide.taps[0].k.size(), 32U + 4U);
  EXPECT_EQ(wide.taps[0].k[32], (KByte{0, 12}));
  EXPECT_EQ(wide.taps[0].part_at(31), 0);
  EXPECT_EQ(wide.taps[0].part_at(32), 1);
}

TEST(ConvStages, BordersWithoutAHaloAreRegionsWithFewerTaps) {
  const PlannedConv planned = plan_conv(square(5, 3, 4, 4), isa::k_scalar, {});
  std::vector<std::size_t> bytes;
  for (const RegionTaps& taps : planned.taps) bytes.push_back(taps.k.size());
  const std::size_t corner = 4 * 4, side = 6 * 4, inside = 9 * 4;
  EXPECT_EQ(bytes, (std::vector<std::size_t>{corner, side, corner, side, inside, side, corner, side,
                                             corner}));
}

TEST(ConvStages, RegionsReadTheWeightsOfTheOneThatHasTheirTaps) {
  const ConvProblem problem = square(5, 3, 4, 4);  // each tap is a group
  const PlannedConv planned = plan_conv(problem, isa::k_scalar, {});
  const PackedConv packed = pack_conv(problem, isa::k_scalar, planned);
  EXPECT_EQ(packed.weights_per_group, 4 * 9 * 4);
  for (std::size_t r = 0; r < planned.taps.size(); ++r) {
    EXPECT_EQ(packed.regions[r].weights, 0);
    EXPECT_EQ(packed.regions[r].places.empty(), r == 4);
  }
  const ConvPlan plan = placed(planned.plan, problem, packed);
  ASSERT_EQ(plan.regions[0].places.size(), 1U);
  EXPECT_EQ(plan.regions[0].places[0].first, 4);  // two rows of two taps each, from the middle on
  EXPECT_EQ(plan.regions[0].places[0].step, 3);
  EXPECT_EQ(plan.regions[0].panel_groups(BlockForm::kWhole), 9);
}

TEST(ConvStages, OtherRegionsHaveWeightsOneAfterTheOther) {
  const ConvProblem problem = square(5, 3, 3, 4);  // groups of 4 bytes cross taps
  const PlannedConv planned = plan_conv(problem, isa::k_scalar, {});
  const PackedConv packed = pack_conv(problem, isa::k_scalar, planned);
  std::int64_t next = 0;
  for (std::size_t r = 0; r < planned.taps.size(); ++r) {
    if (!packed.regions[r].places.empty()) continue;
    EXPECT_EQ(packed.regions[r].weights, next);
    next += 4 * std::ssize(planned.taps[r].k);  // of 4 output channels
  }
  EXPECT_EQ(packed.weights_per_group, next);
  EXPECT_EQ(std::ssize(packed.constants[0].bytes), next);
  const ConvPlan plan = placed(planned.plan, problem, packed);
  EXPECT_EQ(plan.regions.back().weights, packed.regions.back().weights);
}

TEST(ConvStages, WeightsAreInTheOrderInWhichABlockReadsThem) {
  const ConvProblem problem = square(3, 1, 4, 2);
  const PackedConv packed =
      pack_conv(problem, isa::k_scalar, plan_conv(problem, isa::k_scalar, {}));
  std::vector<int> bytes;
  for (const std::byte each : packed.constants[0].bytes)
    bytes.push_back(static_cast<std::int8_t>(std::to_integer<std::uint8_t>(each)));
  EXPECT_EQ(bytes, problem.weights) << "one group of 4 channels of x: output channel after channel";
}

// Whether y, which starts `distance` bytes before x, leaves every byte of x as it was until it has
// been read: tiles read x first and then write y.
bool is_safe(const ConvRegion& r, std::int64_t channels, std::int64_t distance) {
  std::int64_t written = -distance;  // of y, counted from the start of x
  for (int row = 0; row < r.rows; row += r.tile_rows) {
    for (int col = 0; col < r.cols; col += r.tile_cols) {
      if (written > row * r.x_row + col * r.x_col) return false;
      const int last_row = std::min(row + r.tile_rows, r.rows) - 1;
      const int last_col = std::min(col + r.tile_cols, r.cols) - 1;
      written = std::max(written, last_row * r.y_row + last_col * r.y_col + channels - distance);
    }
  }
  return true;
}

TEST(ConvStages, TheOverlapDistanceIsSafe) {
  for (const int channels : {4, 8, 12}) {
    for (const int tile : {1, 3, 4}) {
      ConvRegion r;
      r.rows = 3;
      r.cols = 10;
      r.x_col = 8;
      r.x_row = 80;
      r.y_col = channels;
      r.y_row = 10 * channels;
      r.tile_cols = tile;
      const std::int64_t distance = overlap_distance(r, channels, {0, r.x_row, r.x_col});
      EXPECT_TRUE(is_safe(r, channels, distance)) << channels << " " << tile;
      EXPECT_GE(distance, tile * channels) << "a tile may write over what it has read itself";
    }
  }
}

TEST(ConvStages, LoopsGoOverImagesThenGroups) {
  ConvProblem problem = square(5, 1, 8, 4);
  EXPECT_TRUE(loops_around(problem).empty());
  problem.geometry.batch = 3;
  problem.geometry.group = 2;
  const std::vector<ConvLoop> loops = loops_around(problem);
  ASSERT_EQ(loops.size(), 2U);
  EXPECT_EQ(loops[0].count, 3);
  EXPECT_EQ(loops[0].x_step, 5 * 5 * 8);
  EXPECT_EQ(loops[0].y_step, 5 * 5 * 4) << "elements, of 4 bytes each";
  EXPECT_EQ(loops[1].x_step, 4);
  EXPECT_EQ(loops[1].y_step, 2);
  EXPECT_TRUE(loops[1].is_group);
}

using Tile = std::array<std::array<int, 4>, 4>;

// left * tile * left^T for a square matrix.
Tile both_sides(const Tile& left, const Tile& tile) {
  Tile out{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t k = 0; k < 4; ++k) {
        for (std::size_t l = 0; l < 4; ++l) out[i][j] += left[i][k] * tile[k][l] * left[j][l];
      }
    }
  }
  return out;
}

TEST(ConvStages, TransformedWeightsGiveFourTimesTheSumsOfAWindow) {
  const ConvProblem problem = square(4, 3, 1, 1);
  Tile x{};
  for (std::size_t i = 0; i < 16; ++i) x[i / 4][i % 4] = static_cast<int>(i * i * 7 % 256);
  const Tile input = {{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}};
  const Tile output = {{{1, 1, 1, 0}, {0, 1, -1, -1}, {0, 0, 0, 0}, {0, 0, 0, 0}}};
  Tile products = both_sides(input, x);
  for (std::size_t i = 0; i < 16; ++i)
    products[i % 4][i / 4] *= transformed_weight(problem, 0, 0, static_cast<int>(i));
  const Tile sums = both_sides(output, products);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t col = 0; col < 2; ++col) {
      int sum = 0;
      for (std::size_t tap = 0; tap < 9; ++tap)
        sum += problem.weights[tap] * x[row + tap / 3][col + tap % 3];
      EXPECT_EQ(sums[row][col], 4 * sum);
    }
  }
}

}  // namespace
}  // namespace etch
