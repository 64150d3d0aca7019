// Recurrent layers: references, the Native stage and compiled code give the same bits on every
// instruction set, for sequences of every length.
#include <gtest/gtest.h>

#include "tests/support/agreement.h"
#include "tests/support/recurrent_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

TEST(RecurrentEngines, NativelyInAllCellsAndDirections) {
  expect_native_agrees(recurrent_layers(60));
}

TEST(RecurrentEngines, NativelyWithTilesOfSeveralStates) {
  expect_native_agrees(quantized_recurrent_layers());
}

TEST(RecurrentEngines, NativelyInFusedProducts) {
  expect_native_agrees(fused(recurrent_layers(30)));
}

class RecurrentCode : public testing::TestWithParam<const char*> {};

TEST_P(RecurrentCode, GivesTheBitsOfTheReference) {
  std::vector<Case> cases = thinned(recurrent_layers(12), GetParam());
  add_cases(cases, thinned(fused(recurrent_layers(6)), GetParam()));
  expect_compiled_agrees(cases, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cells, RecurrentCode, testing::ValuesIn(all_targets_but({})),
                         name_of_target);

}  // namespace
}  // namespace etch
