// All engines agree on depthwise and grouped convolutions of every kind of weights: with 9 bits,
// with x's zero point at run time, with int32 and requantized results, on every target.
#include <gtest/gtest.h>

#include <utility>

#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/grouped_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

TEST(GroupedConvolutions, AgreeNativelyWithEveryKernel) {
  expect_native_agrees(depthwise_kernels(3));
}
TEST(GroupedConvolutions, AgreeNativelyInSmallGroups) {
  expect_native_agrees(grouped_convolutions(150));
}
TEST(GroupedConvolutions, AgreeNativelyOnRandomShapes) {
  expect_native_agrees(random_grouped_convolutions(60));
}
TEST(GroupedConvolutions, AgreeNativelyTransposed) {
  expect_native_agrees(transposed_depthwise(150));
}
TEST(GroupedConvolutions, AgreeNativelyWithIntegerRequantization) {
  expect_native_agrees(transposed_depthwise(6), RequantizeMode::kInteger);
  expect_native_agrees(depthwise_kernels(151), RequantizeMode::kInteger);
  expect_native_agrees(grouped_convolutions(6), RequantizeMode::kInteger);
}

TEST(GroupedConvolutions, AgreeNativelyWhereTwoReadOneTensor) {
  expect_native_agrees(shared_inputs(12));
}

class CompiledGroups : public testing::TestWithParam<const char*> {};

TEST_P(CompiledGroups, AgreeWithTheReferences) {
  std::vector<Case> cases = depthwise_kernels(17);
  add_cases(cases, grouped_convolutions(20));
  add_cases(cases, random_grouped_convolutions(10));
  add_cases(cases, shared_inputs(3));
  add_cases(cases, transposed_depthwise(12));
  expect_compiled_agrees(thinned(std::move(cases), GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(GroupedConvolutions, CompiledGroups,
                         testing::ValuesIn(all_targets_but({})), name_of_target);

}  // namespace
}  // namespace etch
