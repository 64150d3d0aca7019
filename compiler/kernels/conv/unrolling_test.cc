// Unrolling on request: what is spelled out, and where that ends.
#include "compiler/kernels/conv/unrolling.h"

#include <gtest/gtest.h>

#include "compiler/kernels/conv/tile_choice.h"
#include "compiler/kernels/conv/tiles.h"
#include "templates/isa/avx512_vnni/traits.h"

namespace etch {
namespace {

constexpr Unrolling kFull{Unrolling::Kind::kFull, 0};

// Convolution of `kernel` rows that are `groups` groups long, of a 56 x 56 image.
ConvPlan plan_of(int kernel, int groups, int channels) {
  ConvPlan plan;
  ConvRegion region;
  region.rows = region.cols = 56;
  region.runs.push_back({0, kernel, 1000, groups});
  plan.regions.push_back(region);
  choose_tiles(plan, isa::k_avx512_vnni, channels);
  return plan;
}

bool unroll(ConvPlan& plan, Unrolling unrolling) {
  return set_unrolling(plan, isa::k_avx512_vnni, unrolling);
}

TEST(Unrolling, IsSpelledAsAWordOrANumber) {
  for (const char* text : {"auto", "full", "1", "4096"}) {
    ASSERT_TRUE(parse_unrolling(text)) << text;
    EXPECT_EQ(text_of(*parse_unrolling(text)), text);
  }
  for (const char* text : {"", "0", "-1", "4097", "full ", "Full", "1.5", "4x"}) {
    EXPECT_FALSE(parse_unrolling(text)) << text;
  }
}

TEST(Unrolling, OfSomeGroupsLeavesALoop) {
  ConvPlan plan = plan_of(3, 48, 64);
  EXPECT_TRUE(unroll(plan, {Unrolling::Kind::kGroups, 5}));
  EXPECT_EQ(unrolled_groups(plan), 5);
  EXPECT_TRUE(unroll(plan, {Unrolling::Kind::kGroups, 100}));
  EXPECT_EQ(unrolled_groups(plan), 48) << "rows of taps keep their loop";
}

TEST(Unrolling, OfAllGroupsOrMoreLeavesNone) {
  for (const Unrolling unrolling : {kFull, Unrolling{Unrolling::Kind::kGroups, 36},
                                    Unrolling{Unrolling::Kind::kGroups, 4096}}) {
    ConvPlan plan = plan_of(3, 12, 16);
    EXPECT_TRUE(unroll(plan, unrolling));
    EXPECT_EQ(unrolled_groups(plan), 36);
  }
}

TEST(Unrolling, AutoIsTheRuleOfTheTiles) {
  for (const int groups : {1, 16, 48, 500}) {
    const ConvPlan usual = plan_of(3, groups, 64);
    ConvPlan plan = usual;
    unroll(plan, {Unrolling::Kind::kGroups, 3});
    unroll(plan, {});
    EXPECT_EQ(plan.unroll, usual.unroll) << groups;
    EXPECT_EQ(plan.straight_line, usual.straight_line) << groups;
  }
}

TEST(Unrolling, EndsAtTheLimitOfStatements) {
  ConvPlan plan = plan_of(3, 2000, 64);
  EXPECT_FALSE(unroll(plan, kFull));
  EXPECT_TRUE(within_limits(plan));
  const int allowed = unrolled_groups(plan);
  EXPECT_GT(allowed, 50);
  EXPECT_LT(allowed, 6000);
  ConvPlan same = plan;
  EXPECT_TRUE(unroll(same, {Unrolling::Kind::kGroups, allowed}));
  EXPECT_EQ(statements_of(same).step, statements_of(plan).step);
}

TEST(TileCandidates, DifferFromEachOtherAndFitTheRegisters) {
  const IsaTraits& isa = isa::k_avx512_vnni;
  for (const int channels : {1, 8, 16, 40, 48, 64, 80, 256}) {
    for (const int groups : {1, 7, 144}) {
      const ConvPlan plan = plan_of(3, groups, channels);
      const std::vector<TileChoice> candidates = tile_candidates(plan, isa, 6);
      EXPECT_GE(candidates.size(), 2U) << channels << " channels, " << groups << " groups";
      EXPECT_LE(candidates.size(), 6U);
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        EXPECT_EQ(fault_of(candidates[i], isa), "");
        EXPECT_NE(candidates[i], choice_of(plan));
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(candidates[i], candidates[j]);
      }
    }
  }
}

TEST(TileChoices, OfAPlanMakeTheSamePlanAgain) {
  const IsaTraits& isa = isa::k_avx512_vnni;
  // Half vectors are not among the choices, so no channels that end in half of one.
  for (const int channels : {16, 48, 64, 80, 256}) {
    const ConvPlan plan = plan_of(3, 12, channels);
    EXPECT_EQ(fault_of(choice_of(plan), isa), "") << channels;
    ConvPlan again = plan;
    ASSERT_TRUE(apply_choice(again, isa, channels, choice_of(plan)));
    EXPECT_EQ(describe_tiles(again), describe_tiles(plan));
    EXPECT_EQ(again.lanes_per_group, plan.lanes_per_group);
  }
}

TEST(TileChoices, LargerThanTheImageAreAsLargeAsTheImage) {
  ConvPlan plan;
  ConvRegion region;
  region.rows = 2;
  region.cols = 3;
  region.runs.push_back({0, 1, 0, 4});
  plan.regions.push_back(region);
  ASSERT_TRUE(apply_choice(plan, isa::k_avx512_vnni, 16, {4, 6, 1, LoopOrder::kPixelsOutside, {}}));
  EXPECT_EQ(plan.regions.front().tile_rows, 2);
  EXPECT_EQ(plan.regions.front().tile_cols, 3);
}

}  // namespace
}  // namespace etch
