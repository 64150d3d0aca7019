// All engines give the same bits: the reference functions, the steps under the Native stage on
// every instruction set's plan, and the compiled code on those that this machine can run.
//
// Native is cheap and takes all cases of a sample; compiled code takes a second sample. With
// ETCH_SWEEP=1 (tools/agree-sweep) both take many more.
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/base/text.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/part.h"
#include "tests/support/residual_cases.h"

namespace etch {
namespace {

bool sweeping() { return std::getenv("ETCH_SWEEP") != nullptr; }
int sample(int usual, int sweep) { return sweeping() ? sweep : usual; }

std::vector<Tensor> one_half(std::uint16_t bits) {
  Tensor out(DType::kF16, {1});
  out.as<std::uint16_t>()[0] = bits;
  return {out};
}

TEST(EnginesAgree, OrTheFirstDifferenceOfHalvesIsSaidInNumbers) {
  EXPECT_EQ(difference_of(one_half(0x3c00), one_half(0xc000)),
            "output 0: 1 of 1 elements of [1] differ; number 0 is 1, not -2");
}

TEST(EnginesAgree, NativelyOnConvolutionsAlongALine) {
  expect_native_agrees(small_line_convolutions(sample(7, 1)));
}
TEST(EnginesAgree, NativelyOnConvolutionsInAPlane) {
  expect_native_agrees(small_plane_convolutions(sample(17, 1)));
}
TEST(EnginesAgree, NativelyOnConvolutionsInAVolume) {
  expect_native_agrees(small_volume_convolutions(sample(300, 5000)));
}
TEST(EnginesAgree, NativelyOnTransposedConvolutions) {
  expect_native_agrees(small_transposed_convolutions(sample(500, 5000)));
}
TEST(EnginesAgree, NativelyOnIntegerConvolutions) {
  expect_native_agrees(integer_convolutions(sample(300, 5000)));
  expect_native_agrees(nearly_narrow_convolutions(sample(40, 300)));
}
TEST(EnginesAgree, NativelyOnConvolutionsKnownAtRunTime) {
  expect_native_agrees(run_time_convolutions(sample(300, 5000)));
}
TEST(EnginesAgree, NativelyOnConvolutionsOfPaddingOnly) {
  expect_native_agrees(convolutions_of_padding());
}
TEST(EnginesAgree, NativelyOnLargerConvolutions) {
  expect_native_agrees(larger_convolutions(sample(100, 1500)));
}
TEST(EnginesAgree, NativelyOnSmallNetworks) {
  expect_native_agrees(small_networks(sample(150, 2000)));
}
TEST(EnginesAgree, NativelyOnConvolutionsWithResiduals) {
  expect_native_agrees(residual_convolutions(sample(150, 2000)));
}
TEST(EnginesAgree, NativelyOnOtherOperators) {
  expect_native_agrees(other_operators(sample(60, 1000)));
}

// The same bits without a float in the generated code.
TEST(EnginesAgree, NativelyWithIntegerRequantization) {
  constexpr RequantizeMode kInteger = RequantizeMode::kInteger;
  expect_native_agrees(small_line_convolutions(sample(31, 3)), kInteger);
  expect_native_agrees(small_plane_convolutions(sample(101, 10)), kInteger);
  expect_native_agrees(small_volume_convolutions(sample(30, 500)), kInteger);
  expect_native_agrees(small_transposed_convolutions(sample(80, 1000)), kInteger);
  expect_native_agrees(larger_convolutions(sample(20, 300)), kInteger);
  expect_native_agrees(small_networks(sample(30, 300)), kInteger);
  expect_native_agrees(residual_convolutions(sample(30, 300)), kInteger);
}

// A sample of everything. The generators' own order mixes sizes and types well.
std::vector<Case> compiled_sample() {
  std::vector<Case> all;
  add_cases(all, small_line_convolutions(sample(500, 60)));
  add_cases(all, small_plane_convolutions(sample(1150, 130)));
  add_cases(all, small_volume_convolutions(sample(6, 40)));
  add_cases(all, small_transposed_convolutions(sample(10, 80)));
  add_cases(all, convolutions_of_padding());
  add_cases(all, integer_convolutions(sample(8, 60)));
  add_cases(all, nearly_narrow_convolutions(sample(3, 30)));
  add_cases(all, run_time_convolutions(sample(6, 40)));
  add_cases(all, larger_convolutions(sample(12, 100)));
  add_cases(all, small_networks(sample(8, 80)));
  add_cases(all, residual_convolutions(sample(16, 150)));
  add_cases(all, other_operators(sample(2, 12)));
  return all;
}

// One or two of every kind of step.
std::vector<Case> one_of_everything() {
  std::vector<Case> all;
  add_cases(all, small_plane_convolutions(3800));
  add_cases(all, small_transposed_convolutions(2));
  add_cases(all, convolutions_of_padding());
  add_cases(all, integer_convolutions(2));
  add_cases(all, nearly_narrow_convolutions(1));
  add_cases(all, run_time_convolutions(3));
  add_cases(all, small_networks(1));
  add_cases(all, residual_convolutions(2));
  add_cases(all, other_operators(1));
  return all;
}

// Cases with their programs for one instruction set.
struct Programs {
  Programs(std::vector<Case> all, const IsaTraits& isa) : cases(std::move(all)) {
    for (const Case& each : cases) {
      // Every third without floats.
      const bool integer = programs.size() % 3 == 2;
      programs.push_back(
          compiled(each, isa.name, integer ? RequantizeMode::kInteger : RequantizeMode::kFloat));
      if (programs.back() != nullptr) entries.push_back({programs.back().get(), &each.inputs});
    }
  }
  bool all_compiled() const { return entries.size() == cases.size(); }

  const std::vector<Case> cases;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
};

void expect_programs_agree(const Programs& all, const IsaTraits& isa,
                           const std::vector<std::string>& flags) {
  ASSERT_TRUE(all.all_compiled());
  BatchOptions options;
  options.flags = flags;
  options.clean =
      flags == std::vector<std::string>{"-O1"};  // at -O3 g++ 12 warns of impossible paths
  const auto outputs = run_generated(all.entries, isa, options);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all.cases[i])), "")
        << all.cases[i].name;
  }
}

class GeneratedCode : public testing::TestWithParam<const IsaTraits*> {};

TEST_P(GeneratedCode, ComputesWhatTheReferencesDo) {
  const IsaTraits& isa = *GetParam();
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << isa.name << ": " << obstacle;
  const Programs all(thinned(compiled_sample(), isa), isa);
  expect_programs_agree(all, isa, {"-O1"});
  std::printf("%s: %zu networks compiled and compared\n", std::string(isa.name).c_str(),
              all.cases.size());
}

// Compilers may fuse products and sums of floats with these, wherever the code lets them.
TEST_P(GeneratedCode, GivesTheSameBitsWhateverTheFlags) {
  const IsaTraits& isa = *GetParam();
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << isa.name << ": " << obstacle;
  const Programs all(part_of(one_of_everything()), isa);
  expect_programs_agree(all, isa, {"-O3", "-march=native", "-ffp-contract=fast"});
}

TEST_P(GeneratedCode, CompilesWithoutWarningsAndNeedsOnlyMemcpyAndMemset) {
  const Programs all(part_of(one_of_everything()), *GetParam());
  ASSERT_TRUE(all.all_compiled());
  expect_clean_code(all.entries, *GetParam());
}

INSTANTIATE_TEST_SUITE_P(EnginesAgree, GeneratedCode,
                         testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

}  // namespace
}  // namespace etch
