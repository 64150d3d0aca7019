// Which loop is outside: the one over pixels as long as the weights stay in the caches, those of 16
// bits in that of the first level.
#include "compiler/kernels/conv/tiles.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace etch
