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

class RecurrentCode : public testing::TestWithParam<const char*> {};

TEST_P(RecurrentCode, GivesTheBitsOfTheReference) {
  expect_compiled_agrees(thinned(recurrent_layers(12), GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cells, RecurrentCode, testing::ValuesIn(all_targets_but({})),
                         name_of_target);

}  // namespace
}  // namespace etch
