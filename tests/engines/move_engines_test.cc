// Operators that only move elements, alone and between convolutions, and Resize: references, steps
// and compiled code agree bit for bit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/move_cases.h"
#include "tests/support/part.h"
#include "tests/support/select_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

TEST(Moves, NativelyAlone) { expect_native_agrees(move_cases(120)); }
TEST(Moves, NativelyInSelection) {
  expect_native_agrees(select_cases(120));
  expect_native_agrees(wide_selections());
}
TEST(Moves, NativelyInResize) { expect_native_agrees(resize_cases(300)); }
TEST(Moves, NativelyInAntialias) { expect_native_agrees(antialias_cases(200)); }
TEST(Moves, NativelyBetweenConvolutions) { expect_native_agrees(networks_that_move(150)); }

// These steps are rows of the runtime, the same C++ on every target: the scalar one and two with
// flags of their own are enough, and each takes half of the cases.
constexpr const char kRows[] = "rows of the runtime, compiled for avx2 too";

class CompiledMoves : public testing::TestWithParam<const char*> {};

TEST_P(CompiledMoves, AgreeWithTheReferences) {
  std::vector<Case> all = move_cases(6);
  add_cases(all, select_cases(6));
  add_cases(all, wide_selections());
  add_cases(all, resize_cases(24));
  add_cases(all, antialias_cases(40));
  add_cases(all, networks_that_move(6));
  const std::size_t half = find_target(GetParam())->lanes > 1 ? 0 : 1;
  expect_compiled_agrees(half_of(std::move(all), half), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Moves, CompiledMoves,
    testing::ValuesIn(all_targets_but({{"sse41", kRows}, {"avx_vnni", kRows}})), name_of_target);

TEST(Halves, HaveSomeOfEveryKindOfCasesThatAlternate) {
  if (std::getenv("ETCH_SWEEP") != nullptr) GTEST_SKIP() << "a sweep takes all";
  for (std::size_t kinds = 1; kinds <= 13; ++kinds) {
    std::vector<Case> cases(6 * kinds);
    for (std::size_t i = 0; i < cases.size(); ++i) cases[i].name = cat(i % kinds);
    std::size_t taken = 0;
    for (const std::size_t half : {0U, 1U}) {
      std::set<std::string> found;
      for (const Case& each : half_of(cases, half)) {
        found.insert(each.name);
        ++taken;
      }
      EXPECT_EQ(found.size(), kinds);
    }
    EXPECT_EQ(taken, cases.size());
  }
}

// Compilers may fuse products and sums of floats with these, wherever the code lets them.
TEST(Moves, GiveTheSameBitsWhateverTheFlags) {
  const IsaTraits& isa = *find_target("scalar");
  const std::vector<Case> cases = part_of(resize_cases(24));
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : cases) {
    programs.push_back(compiled(each, isa.name));
    ASSERT_NE(programs.back(), nullptr) << each.name;
    entries.push_back({programs.back().get(), &each.inputs});
  }
  const BatchOptions fused{{"-O3", "-march=native", "-ffp-contract=fast"}, 24};
  const auto outputs = run_generated(entries, isa, fused);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(cases[i])), "") << cases[i].name;
  }
}

TEST(Moves, CompileWithoutWarningsAndNeedOnlyMemcpyAndMemset) {
  std::vector<Case> cases = move_cases(4);
  add_cases(cases, select_cases(4));
  add_cases(cases, resize_cases(12));
  add_cases(cases, antialias_cases(8));
  expect_clean_code(cases, "scalar");
}

}  // namespace
}  // namespace etch
