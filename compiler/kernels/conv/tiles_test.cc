// Which loop is outside: the one over pixels as long as the weights stay in the caches, of which
// weights that are bytes in memory need half of what they have as words.
#include "compiler/kernels/conv/tiles.h"

#include <gtest/gtest.h>

#include "templates/isa/avx2/traits.h"

namespace etch {
namespace {

LoopOrder order_of(int groups, bool bytes) {
  ConvPlan plan;
  ConvRegion region;
  region.runs.push_back({0, 1, 0, groups});
  plan.regions.push_back(region);
  plan.bytes = bytes;
  constexpr int kChannels = 512;
  choose_tiles(plan, isa::k_avx2, kChannels);
  return plan.order;
}

TEST(LoopOrder, CountsWeightsAsTheyAreInMemory) {
  EXPECT_EQ(order_of(40, false), LoopOrder::kPixelsOutside);    // 160 KiB
  EXPECT_EQ(order_of(65, false), LoopOrder::kChannelsOutside);  // 260 KiB
  EXPECT_EQ(order_of(65, true), LoopOrder::kPixelsOutside);     // 130 KiB
  EXPECT_EQ(order_of(130, true), LoopOrder::kChannelsOutside);
}

}  // namespace
}  // namespace etch
