// Which loop is outside: the one over pixels as long as the weights stay in the caches, those of 16
// bits in that of the first level. How many pixels a tile of 64-bit Arm has: fewer where its sums
// stay in registers through more than one loop.
#include "compiler/kernels/conv/tiles.h"

#include <gtest/gtest.h>

#include "templates/isa/aarch64_dotprod/traits.h"
#include "templates/isa/avx2/traits.h"
#include "templates/isa/avx512_vnni/traits.h"

namespace etch {
namespace {

LoopOrder order_of(int groups, bool bytes, const IsaTraits& isa = isa::k_avx2) {
  ConvPlan plan;
  ConvRegion region;
  region.runs.push_back({0, 1, 0, groups});
  plan.regions.push_back(region);
  plan.bytes = bytes;
  constexpr int kChannels = 512;
  choose_tiles(plan, isa, kChannels);
  return plan.order;
}

TEST(LoopOrder, CountsWeightsAsTheyAreInMemory) {
  EXPECT_EQ(order_of(6, false), LoopOrder::kPixelsOutside);  // 24 KiB in words
  EXPECT_EQ(order_of(7, false), LoopOrder::kChannelsOutside);
  EXPECT_EQ(order_of(65, true), LoopOrder::kPixelsOutside);  // 130 KiB in bytes
  EXPECT_EQ(order_of(130, true), LoopOrder::kChannelsOutside);
  EXPECT_EQ(order_of(65, false, isa::k_avx512_vnni), LoopOrder::kPixelsOutside);
  EXPECT_EQ(order_of(130, false, isa::k_avx512_vnni), LoopOrder::kChannelsOutside);
}

// Columns of a tile of 16 channels, in a row of 20 pixels of 16 bytes; each repetition of the run
// has so many groups of 4 bytes.
int columns_of(int repeat, int groups) {
  ConvPlan plan;
  ConvRegion region;
  region.cols = 20;
  region.x_col = 16;
  region.runs.push_back({0, repeat, 20 * 16, groups});
  plan.regions.push_back(region);
  plan.lanes = true;
  constexpr int kChannels = 16;
  choose_tiles(plan, isa::k_aarch64_dotprod, kChannels);
  return plan.regions.front().tile_cols;
}

TEST(TilesOfLanes, HaveFiveColumnsInOneLoop) {
  EXPECT_EQ(columns_of(1, 36), 5);
  EXPECT_EQ(columns_of(1, 12), 5);
}

TEST(TilesOfLanes, HaveFourColumnsInTwoLoops) { EXPECT_EQ(columns_of(3, 12), 4); }

// 400 products of a tile are written one after the other.
TEST(TilesOfLanes, HaveFiveColumnsWithoutLoops) { EXPECT_EQ(columns_of(2, 8), 5); }

}  // namespace
}  // namespace etch
