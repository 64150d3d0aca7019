// All engines agree on convolutions with every count of channels, whatever is left over of a
// vector, with either arithmetic for requantization and divided among threads; and the counts
// reach the forms of chunks and blocks that they are meant for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/base/text.h"
#include "compiler/schedule/divide.h"
#include "compiler/schedule/memory.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/channel_cases.h"

namespace etch {
namespace {

TEST(ChannelCounts, EnginesAgreeNativelyOnDepthwiseConvolutions) {
  expect_native_agrees(depthwise_channel_counts(8));
}
TEST(ChannelCounts, EnginesAgreeNativelyOnDenseConvolutions) {
  expect_native_agrees(dense_channel_counts(4));
}
TEST(ChannelCounts, EnginesAgreeNativelyWithIntegerRequantization) {
  expect_native_agrees(depthwise_channel_counts(1), RequantizeMode::kInteger);
  expect_native_agrees(dense_channel_counts(1), RequantizeMode::kInteger);
}
TEST(ChannelCounts, EnginesAgreeNativelyOnWholePixels) {
  expect_native_agrees(whole_pixels(60));
  expect_native_agrees(whole_pixels(12), RequantizeMode::kInteger);
}
TEST(ChannelCounts, EnginesAgreeNativelyOnWideBorders) {
  expect_native_agrees(wide_borders(60));
  expect_native_agrees(wide_borders(12), RequantizeMode::kInteger);
}
TEST(ChannelCounts, EnginesAgreeNativelyOnTransposedConvolutionsToFewChannels) {
  expect_native_agrees(transposed_to_few(120));
  expect_native_agrees(transposed_to_few(12), RequantizeMode::kInteger);
}
TEST(ChannelCounts, EnginesAgreeNativelyOnPixelsFarApart) {
  expect_native_agrees(pixels_far_apart());
  expect_native_agrees(pixels_far_apart(), RequantizeMode::kInteger);
}

std::vector<Case> both_kinds() {
  std::vector<Case> all = depthwise_channel_counts(1);
  add_cases(all, dense_channel_counts(1));
  add_cases(all, whole_pixels(24));
  add_cases(all, wide_borders(18));
  add_cases(all, transposed_to_few(18));
  return all;
}

class ChannelCountsIn : public testing::TestWithParam<const IsaTraits*> {};

// As GeneratedCode of engines_agree_test.cc, half of them divided among two threads.
TEST_P(ChannelCountsIn, GeneratedCodeEnginesAgree) {
  const IsaTraits& isa = *GetParam();
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << isa.name << ": " << obstacle;
  const std::vector<Case> all = thinned(both_kinds(), isa);
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    programs.push_back(
        compiled(all[i], isa.name, i % 3 == 2 ? RequantizeMode::kInteger : RequantizeMode::kFloat));
    ASSERT_NE(programs.back(), nullptr);
    if (i % 2 == 0) {
      divide_work(*programs.back(), 2, 0);
      plan_memory(*programs.back());
    }
    entries.push_back({programs.back().get(), &all[i].inputs});
  }
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all[i])), "") << all[i].name;
}

INSTANTIATE_TEST_SUITE_P(Isa, ChannelCountsIn,
                         testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

// Facts of steps of `cases` on AVX-512 that say `what`.
std::ptrdiff_t facts_with(const std::vector<Case>& cases, std::string_view what) {
  std::ptrdiff_t count = 0;
  for (const Case& each : cases) {
    const auto program = compiled(each, "avx512_vnni");
    if (program == nullptr) return -1;
    for (const std::unique_ptr<Step>& step : program->steps) {
      count += std::ranges::count_if(step->facts, [&](const std::string& fact) {
        return fact.find(what) != std::string::npos;
      });
    }
  }
  return count;
}

TEST(ChannelCounts, WeightsWithAnAddendInCommonTakeSumsOfPixels) {
  EXPECT_GT(facts_with(whole_pixels(60), "times the sum of each pixel"), 8);
}

TEST(ChannelCounts, ColumnsOfTransposedConvolutionsAreMerged) {
  EXPECT_GT(facts_with(transposed_to_few(60), "output columns at a time"), 15);
}

// Steps of `cases` on AVX-512 whose schedule says `what`.
std::ptrdiff_t steps_with(const std::vector<Case>& cases, std::string_view what) {
  std::ptrdiff_t count = 0;
  for (const Case& each : cases) {
    const auto program = compiled(each, "avx512_vnni");
    if (program == nullptr) return -1;
    count += std::ranges::count_if(program->steps, [&](const std::unique_ptr<Step>& step) {
      return step->schedule.find(what) != std::string::npos;
    });
  }
  return count;
}

TEST(ChannelCounts, ReachEveryForm) {
  const std::vector<Case> depthwise = depthwise_channel_counts(8);
  EXPECT_GT(steps_with(depthwise, "from pieces of pixels"), 50);
  EXPECT_GT(steps_with(depthwise, "bytes x 2"), 10);
  const std::vector<Case> dense = dense_channel_counts(4);
  EXPECT_GT(steps_with(dense, "K split in two"), 20);
  EXPECT_GT(steps_with(dense, "pairs of pixels"), 5);
}

}  // namespace
}  // namespace etch
