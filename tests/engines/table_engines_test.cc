// Tables and limits: references, steps and compiled code agree bit for bit. The references see the
// graph before any pass, so this also shows that fusion into tables changes no result.
#include <gtest/gtest.h>

#include <utility>

#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/table_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

TEST(TableSteps, NativelyInActivations) { expect_native_agrees(activation_tables(60)); }
TEST(TableSteps, NativelyInChoices) { expect_native_agrees(quantized_choices(100)); }
TEST(TableSteps, NativelyInFloatChains) { expect_native_agrees(float_chains(300)); }
TEST(TableSteps, NativelyInLimitedConvolutions) { expect_native_agrees(limited_convolutions(97)); }

class CompiledTables : public testing::TestWithParam<const char*> {};

TEST_P(CompiledTables, AgreeWithTheReferences) {
  std::vector<Case> all = activation_tables(10);
  add_cases(all, tables_of_every_byte());
  add_cases(all, quantized_choices(20));
  add_cases(all, float_chains(40));
  add_cases(all, limited_convolutions(1500));
  expect_compiled_agrees(thinned(std::move(all), GetParam()), GetParam());
}

TEST(TableSteps, GiveCleanCode) {
  std::vector<Case> all = activation_tables(2);
  add_cases(all, quantized_choices(4));
  add_cases(all, float_chains(4));
  add_cases(all, limited_convolutions(3000));
  expect_clean_code(all, "avx2");
}

INSTANTIATE_TEST_SUITE_P(TableSteps, CompiledTables, testing::ValuesIn(all_targets_but({})),
                         name_of_target);

}  // namespace
}  // namespace etch
