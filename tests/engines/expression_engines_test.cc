// Fused expressions against the reference functions of the operators they are made of, one after
// the other: natively with the widths of every target, and compiled.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/expression_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

TEST(Expressions, NativelyInTrees) { expect_native_agrees(expression_cases(150, false, false)); }
TEST(Expressions, NativelyInQuantizedTrees) {
  expect_native_agrees(expression_cases(150, true, true));
}
TEST(Expressions, NativelyInEveryLength) {
  expect_native_agrees(expression_lengths(false));
  expect_native_agrees(expression_lengths(true));
}
TEST(Expressions, NativelyInDynamicBlocks) { expect_native_agrees(dynamic_blocks(30)); }

// Which of two NaN is kept is not fixed: all are one here.
std::vector<Tensor> with_one_nan(std::vector<Tensor> tensors) {
  for (Tensor& tensor : tensors) {
    if (tensor.dtype() != DType::kF32) continue;
    for (float& x : tensor.as<float>()) {
      if (std::isnan(x)) x = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return tensors;
}

TEST(Expressions, KeepNanAndInfinitiesAndSignsOfZero) {
  for (const Case& each : expression_cases(150, false, true)) {
    const std::vector<Tensor> expected = with_one_nan(reference_outputs(each));
    // Targets: the portable one and the widest, which differ in their lanes.
    for (const char* const target : {"scalar", "avx512_vnni"}) {
      const auto program = compiled(each, target);
      ASSERT_NE(program, nullptr) << each.name;
      const auto actual = with_one_nan(native_outputs(*program, each.inputs));
      EXPECT_EQ(difference_of(actual, expected), "") << each.name << " for " << target;
    }
  }
}

class CompiledExpressions : public testing::TestWithParam<const char*> {};

TEST_P(CompiledExpressions, AgreeWithTheReferences) {
  std::vector<Case> all = expression_cases(10, false, false);
  add_cases(all, expression_cases(10, true, true));
  std::vector<Case> lengths = expression_lengths(false);
  add_cases(lengths, expression_lengths(true));
  for (std::size_t i = 0; i < lengths.size(); i += 9) all.push_back(lengths[i]);
  add_cases(all, dynamic_blocks(3));
  expect_compiled_agrees(thinned(std::move(all), GetParam()), GetParam());
}

TEST(Expressions, GiveCleanCode) {
  std::vector<Case> all = expression_cases(8, false, false);
  add_cases(all, expression_cases(8, true, true));
  expect_clean_code(all, "scalar");
}

INSTANTIATE_TEST_SUITE_P(Expressions, CompiledExpressions, testing::ValuesIn(all_targets_but({})),
                         name_of_target);

}  // namespace
}  // namespace etch
