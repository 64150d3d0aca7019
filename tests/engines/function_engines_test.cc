// Functions of floats: references, steps and compiled code agree bit for bit on every target.
#include <gtest/gtest.h>

#include "tests/support/agreement.h"
#include "tests/support/function_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

TEST(FunctionSteps, Natively) { expect_native_agrees(function_cases(105)); }
TEST(FunctionSteps, NativelyInPowers) { expect_native_agrees(power_cases(60)); }
TEST(FunctionSteps, NativelyOnSeveralTensors) { expect_native_agrees(variadic_cases(120)); }

// These steps are rows of the runtime, the same plain C++ on every target: the scalar one and two
// with flags of their own are enough.
constexpr const char kRows[] = "rows of the runtime, compiled for avx2 too";

class CompiledFunctions : public testing::TestWithParam<const char*> {};

TEST_P(CompiledFunctions, AgreeWithTheReferences) {
  std::vector<Case> all = function_cases(35);
  add_cases(all, power_cases(8));
  add_cases(all, variadic_cases(12));
  expect_compiled_agrees(thinned(std::move(all), GetParam()), GetParam());
}

TEST(FunctionSteps, GiveCleanCode) {
  std::vector<Case> all = function_cases(35);
  add_cases(all, power_cases(4));
  add_cases(all, variadic_cases(4));
  expect_clean_code(all, "scalar");
}

INSTANTIATE_TEST_SUITE_P(
    FunctionSteps, CompiledFunctions,
    testing::ValuesIn(all_targets_but({{"sse41", kRows}, {"avx_vnni", kRows}})), name_of_target);

}  // namespace
}  // namespace etch
