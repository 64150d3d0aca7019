// Convolutions that leave out taps on padding give the bits of the references on every engine, and
// they really leave them out.
#include <gtest/gtest.h>

#include <string>

#include "compiler/schedule/divide.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/audit.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/padding_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

bool leaves_out(const Step& step) {
  return step.schedule.find("without taps on padding") != std::string::npos;
}

TEST(PaddedMaps, AgreeNatively) {
  expect_native_agrees(convolutions_on_small_maps(90));
  expect_native_agrees(convolutions_on_small_maps(30), RequantizeMode::kInteger);
}

class SmallMaps : public ::testing::TestWithParam<const char*> {};

TEST_P(SmallMaps, AgreeCompiled) {
  expect_compiled_agrees(thinned(convolutions_on_small_maps(14), GetParam()), GetParam());
}

TEST_P(SmallMaps, AgreeCompiledForTwoThreads) {
  const IsaTraits& isa = *find_target(GetParam());
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << isa.name << ": " << obstacle;
  const std::vector<Case> cases = convolutions_on_small_maps(8);
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  int divided = 0;
  for (const Case& each : cases) {
    programs.push_back(compiled(each, GetParam()));
    ASSERT_NE(programs.back(), nullptr);
    divide_work(*programs.back(), 2, 0);
    plan_memory(*programs.back());
    entries.push_back({programs.back().get(), &each.inputs});
    for (const auto& step : programs.back()->steps)
      divided += leaves_out(*step) && step->partition.shares == 2;
  }
  EXPECT_GT(divided, 0);
  const auto outputs = run_generated(entries, isa, {});
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(cases[i])), "") << cases[i].name;
}

TEST_P(SmallMaps, HaveCleanCode) { expect_clean_code(convolutions_on_small_maps(4), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Targets, SmallMaps,
                         ::testing::ValuesIn(all_targets_but({{"scalar", "keeps its taps"},
                                                              {"avx_vnni",
                                                               "the kernels of avx512_vnni"}})),
                         name_of_target);

// Many of the cases above take the path they are for, on every instruction set with vectors.
TEST(PaddedMaps, AreComputedWithoutTapsOnPadding) {
  for (const char* target : targets_where([](const IsaTraits& isa) { return isa.vectorized; })) {
    int found = 0;
    for (const Case& each : convolutions_on_small_maps(90)) {
      const auto program = compiled(each, target);
      ASSERT_NE(program, nullptr);
      for (const auto& step : program->steps) found += leaves_out(*step);
    }
    EXPECT_GE(found, 10) << target;
  }
}

TEST(PaddedMaps, KeepTheirCodeSmallWithoutVectors) {
  const auto program = compiled(small_map(7, 64, 48, 1), "scalar");
  ASSERT_NE(program, nullptr);
  for (const auto& step : program->steps) EXPECT_FALSE(leaves_out(*step)) << step->name;
}

// Of 3 x 3 taps of 7 pixels each along an axis, 19 of 21 are on the image.
TEST(PaddedMaps, NeedFewerProducts) {
  constexpr std::int64_t kChannels = 64, kFilters = 48, kTapsOfAxis = 19;
  int found = 0;
  for (int seed = 0; seed < 12; ++seed) {  // some draw weights of more than 8 bits
    const auto program = compiled(small_map(7, kChannels, kFilters, seed), "avx512_vnni");
    ASSERT_NE(program, nullptr);
    for (const auto& step : program->steps) {
      if (!leaves_out(*step)) continue;
      const AuditResult result = audit(*step, program->isa, extents_of(*program, *step));
      EXPECT_EQ(result.executions.at("dot4"),
                kTapsOfAxis * kTapsOfAxis * kChannels / 4 * kFilters / program->isa.lanes);
      ++found;
    }
  }
  EXPECT_GT(found, 3);
}

}  // namespace
}  // namespace etch
