// Outputs that the model leaves out ("") have no place, no layout and no wishes: every operator
// that may leave one out computes its others as the references do, on every plan.
#include "compiler/lower/lowering.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Three parts of the channels, of which the first is before a convolution: with channels last and a
// halo.
TEST(OmittedOutputs, OfASplitLeaveItsOthersTheirLayoutAndHalo) {
  ModelBuilder model(13);
  const Tensor x = counting({1, 6, 5, 6});
  model.input("x", DType::kF32, {1, 6, 5, 6});
  model.initializer("w", f32({2, 2, 3, 3}, std::vector<float>(36, 0.25F)));
  model.node("Split", {"x"}, {"part", "", "rest"}, {{"axis", std::int64_t{1}}});
  model.node("Conv", {"part", "w"}, {"y"}, {{"pads", Ints{1, 1, 1, 1}}});
  model.output("y").output("rest");
  expect_native_agrees({{"second of three omitted", model.bytes(), {x}}});
}

TEST(OmittedOutputs, OfOperatorsWithRowsLeaveOnlyTheOthers) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {2, 4}).initializer("k", s64({1}, {2}));
  model.node("TopK", {"x", "k"}, {"values", ""}).output("values");
  expect_native_agrees({{"values", model.bytes(), {f32({2, 4}, {3, 1, 2, 8, 5, 7, 6, 4})}}});
}

TEST(OmittedOutputs, OfRecurrentOperatorsLeaveTheLastState) {
  ModelBuilder model(14);
  model.input("x", DType::kF32, {3, 1, 2});
  model.initializer("w", f32({1, 8, 2}, std::vector<float>(16, 0.5F)));
  model.initializer("r", f32({1, 8, 2}, std::vector<float>(16, -0.25F)));
  model.node("LSTM", {"x", "w", "r"}, {"", "h", ""}, {{"hidden_size", std::int64_t{2}}});
  model.output("h");
  expect_native_agrees({{"last state", model.bytes(), {f32({3, 1, 2}, {1, -1, 0.5F, 2, -2, 0})}}});
}

}  // namespace
}  // namespace etch
