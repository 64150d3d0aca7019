// Moves of data before a QuantizeLinear: which change places with it, which vanish, which stay.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "compiler/passes/fold_qdq.h"
#include "tests/support/qdq_model.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(FoldQdqMoves, QuantizeMovesBeforeATranspose) {
  QdqModel qdq;
  qdq.model().input("x", DType::kF32, {2, 3}).node("Transpose", {"x"}, {"t"});
  qdq.output("t", 0.5F, kZeroU8);
  EXPECT_EQ(qdq.operators(), "QuantizeLinear Transpose");
  Sink sink;
  const auto graph = qdq.fold(sink);
  EXPECT_EQ(evaluate(*graph, {f32({2, 3}, {0, 1, 2, 3, 4, 500})}).at(0),
            u8({3, 2}, {0, 6, 2, 8, 4, 255}));
}

// As converters from TensorFlow Lite crop transposed convolutions.
TEST(FoldQdqMoves, QuantizeMovesBeforeASliceOfAProduct) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 2, 4}, 0.5F, kZeroU8);
  const std::string w = qdq.weights("w", s8({2, 1, 3}, {1, 2, 3, 4, 5, 6}), f32({}, {0.25F}));
  qdq.model().node("ConvTranspose", {x, w}, {"c"}, {{"strides", std::vector<std::int64_t>{2}}});
  qdq.model().node("Relu", {"c"}, {"r"}).node("Slice", {"r", "one", "eight", "two"}, {"s"});
  qdq.model().initializer("one", s64({1}, {1})).initializer("eight", s64({1}, {8}));
  qdq.model().initializer("two", s64({1}, {2}));
  qdq.output("s", 1, kZeroU8);
  EXPECT_EQ(qdq.operators(), "QLinearConvTranspose Slice");
}

TEST(FoldQdqMoves, QuantizeStaysAfterASliceOfOtherValues) {
  QdqModel qdq;
  qdq.model().input("x", DType::kF32, {2, 8}).node("Slice", {"x", "one", "eight", "one"}, {"s"});
  qdq.model().initializer("one", s64({1}, {1})).initializer("eight", s64({1}, {8}));
  qdq.output("s", 1, kZeroU8);
  EXPECT_EQ(qdq.operators(), "Slice QuantizeLinear");
}

TEST(FoldQdqMoves, SlicesAndPadsThatChangeNothingVanish) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 4}, 0.5F, kZeroU8);
  qdq.model().node("Sigmoid", {x}, {"a"}).node("Slice", {"a", "zero", "end", "axis"}, {"b"});
  qdq.model().node("Pad", {"b", "pads"}, {"c"});
  qdq.model().initializer("zero", s64({1}, {0})).initializer("end", s64({1}, {1000}));
  qdq.model().initializer("axis", s64({1}, {1})).initializer("pads", s64({4}, {0, 0, 0, 0}));
  qdq.output("c", 1, kZeroU8);
  EXPECT_EQ(qdq.operators(), "QLinearSigmoid");
}

// Of one size, but not the same elements.
TEST(FoldQdqMoves, SlicesAndPadsThatMoveElementsStay) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 4}, 0.5F, kZeroU8);
  qdq.model().node("Slice", {x, "last", "before", "axis", "back"}, {"b"});
  qdq.model().node("Pad", {"b", "pads"}, {"c"});
  qdq.model().initializer("last", s64({1}, {-1})).initializer("before", s64({1}, {-1000}));
  qdq.model().initializer("axis", s64({1}, {1})).initializer("back", s64({1}, {-1}));
  qdq.model().initializer("pads", s64({4}, {0, -1, 0, 1}));
  qdq.output("c", 0.5F, kZeroU8);
  EXPECT_EQ(qdq.operators(), "Slice Pad");
}

}  // namespace
}  // namespace etch
