// Losses: results by hand, with weights and classes that do not count, and what is refused.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

const std::string kSum = "sum", kMean = "mean", kNone = "none";

OneOperator likelihood(const std::string& reduction) {
  OneOperator node("NegativeLogLikelihoodLoss", 13);
  node.input(f32({2, 3}, {1, 2, 3, 4, 5, 6})).input(s32({2}, {2, 0}));
  node.attribute("reduction", reduction);
  return node;
}

TEST(Losses, AreReducedWithTheirWeights) {
  EXPECT_EQ(likelihood(kNone).output(), f32({2}, {-3, -4}));
  EXPECT_EQ(likelihood(kMean).output(), f32({}, {-3.5F}));
  const Tensor weights = f32({3}, {10, 20, 30});
  EXPECT_EQ(likelihood(kSum).constant(weights).output(), f32({}, {-130}));
  EXPECT_EQ(likelihood(kMean).constant(weights).output(), f32({}, {-3.25F}));
}

TEST(Losses, LeaveOutAClass) {
  const std::int64_t last = 2;
  EXPECT_EQ(likelihood(kNone).attribute("ignore_index", last).output(), f32({2}, {0, -4}));
  EXPECT_EQ(likelihood(kMean).attribute("ignore_index", last).output(), f32({}, {-4}));
  const Tensor weights = f32({3}, {10, 20, 30});
  EXPECT_EQ(likelihood(kNone).constant(weights).attribute("ignore_index", last).output(),
            f32({2}, {0, -40}));
}

TEST(Losses, OfScoresGiveTheirLogarithmsToo) {
  OneOperator node("SoftmaxCrossEntropyLoss", 13);
  node.input(f32({1, 2, 2}, {1, 7, 1, 7})).input(s64({1, 2}, {0, 1}));
  const auto outputs = node.attribute("reduction", kNone).outputs(2);
  const float half = outputs[1].as<float>()[0];
  EXPECT_EQ(half, -0.6931472F);
  EXPECT_EQ(outputs[1], f32({1, 2, 2}, {half, half, half, half}));
  EXPECT_EQ(outputs[0], f32({1, 2}, {-half, -half}));
}

TEST(Losses, AreRefusedWhereTheirInputsDoNotFit) {
  OneOperator reduced = likelihood("max");
  EXPECT_TRUE(says(reduced, "reduction: must be none, sum or mean"));
  OneOperator targets("NegativeLogLikelihoodLoss", 13);
  targets.input(f32({2, 3}, {1, 2, 3, 4, 5, 6})).input(s64({3}, {0, 0, 0}));
  EXPECT_TRUE(says(targets, "targets of shape [3] and weights do not fit scores of shape [2, 3]"));
  OneOperator weights = likelihood(kSum);
  EXPECT_TRUE(says(weights.constant(f32({2}, {1, 1})), "do not fit scores"));
  OneOperator one("NegativeLogLikelihoodLoss", 13);
  EXPECT_TRUE(says(one.input(f32({2}, {1, 2})).input(s64({2}, {0, 0})), "do not fit scores"));
  OneOperator old("SoftmaxCrossEntropyLoss", 12);
  old.input(f32({1, 2, 1}, {0, 0})).input(s64({1, 1}, {0}));
  EXPECT_TRUE(says(old, "scores of more than two axes need version 13 of ai.onnx"));
  OneOperator floats("SoftmaxCrossEntropyLoss", 13);
  EXPECT_NE(floats.input(f32({1, 2}, {0, 0})).input(f32({1}, {0})).errors(), "");
}

}  // namespace
}  // namespace etch
