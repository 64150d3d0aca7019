// Weights in two parts for sums of 16 bits, and where they are taken; see sums16.h.
#include "compiler/kernels/conv/portable/sums16.h"

#include <gtest/gtest.h>

#include <array>

#include "templates/isa/avx2/traits.h"
#include "templates/isa/avx512_vnni/traits.h"
#include "templates/isa/sse41/traits.h"
#include "tests/support/views.h"

namespace etch {
namespace {

TEST(TwoParts, AddUpAndFitForAnyTwoWeights) {
  for (int a = -128; a <= 127; ++a) {
    for (int b = -128; b <= 127; ++b) {
      const TwoParts parts = two_parts(a, b);
      ASSERT_EQ(parts.first[0] + parts.second[0], a);
      ASSERT_EQ(parts.first[1] + parts.second[1], b);
      ASSERT_TRUE(fits_sums16(parts.first[0], parts.first[1])) << a << " " << b;
      ASSERT_TRUE(fits_sums16(parts.second[0], parts.second[1])) << a << " " << b;
    }
  }
}

TEST(TwoParts, AreOneWhereBothFit) {
  EXPECT_EQ(two_parts(127, -128).second, (std::array<int, 2>{0, 0}));
  EXPECT_EQ(two_parts(64, 64).second, (std::array<int, 2>{0, 0}));
  EXPECT_NE(two_parts(64, 65).second, (std::array<int, 2>{0, 0}));
}

// A product of 6 pixels, 64 x 48; weights of 1, and of 127 in the first `large` bytes of
// channel 40.
ConvProblem product(int large) {
  ConvProblem out;
  out.geometry.in_channels = 64;
  out.geometry.out_channels = 48;
  out.geometry.axes.assign(1, {});
  out.geometry.axes[0].in = out.geometry.axes[0].out = 6;
  out.x = channels_last_view({1, 64, 6}, DType::kU8);
  out.y = channels_last_view({1, 48, 6}, DType::kS32);
  out.weights.assign(48 * 64, 1);
  for (int k = 0; k < large; ++k) out.weights[40U * 64 + static_cast<std::size_t>(k)] = 127;
  out.bias.assign(48, 0);
  return out;
}

TEST(Sums16, AreTakenWhereFewGroupsHaveSecondParts) {
  const auto taken = [](int large, const IsaTraits& isa) {
    return plan_conv(product(large), isa, {}).plan.sums16;
  };
  EXPECT_TRUE(taken(0, isa::k_avx2));
  EXPECT_TRUE(taken(4 * 4, isa::k_avx2));  // of 16 groups
  EXPECT_FALSE(taken(5 * 4, isa::k_avx2));
  EXPECT_TRUE(taken(4 * 4, isa::k_sse41));
  EXPECT_FALSE(taken(0, isa::k_avx512_vnni));
}

// SSE4.1's blocks have up to 16 channels, and none has channels of two groups.
TEST(Sums16, AreNotTakenWhereABlockOfAnyWidthHasMany) {
  ConvProblem wide = product(4 * 4);
  for (std::size_t k = 4 * 4; k < 8 * 4; ++k) wide.weights[32 * 64 + k] = 127;
  EXPECT_FALSE(plan_conv(wide, isa::k_sse41, {}).plan.sums16);

  ConvProblem grouped = product(0);
  grouped.geometry.group = 2;
  grouped.weights.assign(48 * 32, 1);
  for (std::size_t k = 0; k < 2 * 4; ++k) grouped.weights[30 * 32 + k] = 127;
  EXPECT_TRUE(plan_conv(grouped, isa::k_avx2, {}).plan.sums16);
  for (std::size_t k = 2 * 4; k < 4 * 4; ++k) grouped.weights[40 * 32 + k] = 127;
  EXPECT_FALSE(plan_conv(grouped, isa::k_avx2, {}).plan.sums16);
}

TEST(Sums16, HaveTheSecondPartsOfTheFullestBlock) {
  const auto rest = [](int large) {
    return plan_conv(product(large), isa::k_avx2, {}).plan.regions.front().rest;
  };
  EXPECT_EQ(rest(0), 0);
  EXPECT_EQ(rest(1), 0);  // 127 beside 1 fits
  EXPECT_EQ(rest(2), 1);
  EXPECT_EQ(rest(9), 2);  // the ninth is alone in its pair
  EXPECT_EQ(rest(10), 3);
}

TEST(Sums16, AreOfWeightsThatAreBytes) {
  ConvProblem wide = product(0);
  wide.weights[7] = 128;
  EXPECT_FALSE(plan_conv(wide, isa::k_avx2, {}).plan.sums16);
  wide.weights[7] = -128;
  EXPECT_TRUE(plan_conv(wide, isa::k_avx2, {}).plan.sums16);
  wide.shares_weights = true;
  EXPECT_FALSE(plan_conv(wide, isa::k_avx2, {}).plan.sums16);
}

}  // namespace
}  // namespace etch
