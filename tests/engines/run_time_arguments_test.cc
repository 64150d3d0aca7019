// Weights, scales and zero points that arrive at run time, all of them or some, and operators on
// floats and wide integers, whose steps are rows of the runtime too: the generated code must give
// what the reference functions give, natively on every instruction set and compiled for the scalar
// one (the loops are the same everywhere) and the widest.
#include <gtest/gtest.h>

#include <iterator>
#include <utility>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/row_cases.h"
#include "tests/support/run_time_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

std::vector<Case> convolutions(int thinning) {
  std::vector<Case> all = small_plane_convolutions(61 * thinning);
  const auto add = [&](std::vector<Case> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  add(small_line_convolutions(31 * thinning));
  add(small_volume_convolutions(40 / thinning));
  add(small_transposed_convolutions(60 / thinning));
  add(larger_convolutions(30 / thinning));
  return all;
}

// Every convolution as it is and as ConvInteger, with all, half and some arguments late.
std::vector<Case> late_convolutions(int thinning) {
  Dice dice(5);
  std::vector<Case> out;
  for (const Case& each : convolutions(thinning)) {
    const auto one_in = static_cast<int>(dice.between(1, 4));
    out.push_back(with_run_time_arguments(each, one_in, dice));
    const Case integer = as_conv_integer(each);
    if (integer.name == each.name) continue;
    out.push_back(integer);
    out.push_back(with_run_time_arguments(integer, static_cast<int>(dice.between(1, 4)), dice));
  }
  return out;
}

std::vector<Case> late_products(int count) {
  Dice dice(6);
  std::vector<Case> out;
  for (const Case& each : matrix_products(count)) {
    out.push_back(each);
    out.push_back(with_run_time_arguments(each, static_cast<int>(dice.between(1, 4)), dice));
  }
  return out;
}

TEST(RunTimeArguments, NativelyInConvolutions) { expect_native_agrees(late_convolutions(1)); }
TEST(RunTimeArguments, NativelyInMatrixProducts) { expect_native_agrees(late_products(150)); }
TEST(RunTimeArguments, NativelyInProductsOfTwoInputs) {
  expect_native_agrees(products_of_two_inputs(1));
}

TEST(RowSteps, NativelyInArithmetic) { expect_native_agrees(arithmetic_cases(300)); }
TEST(RowSteps, NativelyInFunctionsOfOneElement) { expect_native_agrees(map_cases(150)); }
TEST(RowSteps, NativelyInFunctionsOfIntegers) { expect_native_agrees(integer_function_cases(80)); }
TEST(RowSteps, NativelyInConversions) { expect_native_agrees(cast_cases(300)); }
TEST(RowSteps, NativelyInWindowsAndReductions) { expect_native_agrees(float_window_cases(150)); }
TEST(RowSteps, NativelyInQuantization) { expect_native_agrees(quantization_cases(300)); }

class CompiledRows : public testing::TestWithParam<const char*> {};

TEST_P(CompiledRows, AgreeWithTheReferences) {
  std::vector<Case> cases = late_convolutions(10);
  for (std::vector<Case>& more : std::vector<std::vector<Case>>{
           late_products(6), products_of_two_inputs(13), arithmetic_cases(40), map_cases(15),
           cast_cases(40), integer_function_cases(12), float_window_cases(15),
           quantization_cases(25)}) {
    cases.insert(cases.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  // The same plain C++ on every target: each takes half of the cases.
  const std::size_t half = find_target(GetParam())->lanes > 1 ? 0 : 1;
  expect_compiled_agrees(half_of(std::move(cases), half), GetParam());
}

constexpr const char kRows[] = "rows of the runtime, compiled for avx_vnni too";
INSTANTIATE_TEST_SUITE_P(RunTimeArguments, CompiledRows,
                         testing::ValuesIn(all_targets_but({{"sse41", kRows}, {"avx2", kRows}})),
                         name_of_target);

}  // namespace
}  // namespace etch
