// Which float biases of float groups are rounded as ONNX Runtime does it.
#include "compiler/passes/round_bias.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/qdq_model.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

const Tensor kBias = f32({2}, {0.3F, -0.3F});
const Tensor kRounded = f32({2}, {0.25F, -0.3125F});  // of units of 0.125 and 0.0625

// The bias of the product that is left after folding.
Tensor folded_bias(const QdqModel& qdq, const std::string& product,
                   QdqGroups groups = QdqGroups::kOfOnnxRuntime) {
  Sink sink;
  const auto graph = qdq.fold(sink, groups);
  if (!graph) return f32({0}, {});
  for (const Node& node : graph->nodes) {
    if (node.op_type == product && node.inputs.size() > 2 &&
        graph->value(node.inputs[2]).constant != nullptr)
      return *graph->value(node.inputs[2]).constant;
  }
  return f32({0}, {});
}

// int8 in, uint8 out, as Brevitas and NNCF have it: the convolution stays float.
struct MixedConvolution : QdqConvolution {
  explicit MixedConvolution(const Tensor& bias = kBias) {
    qdq.model().initializer("b", bias).node("Conv", {x, w, "b"}, {"y"});
  }
};

TEST(RoundBias, OfTwoTypesIsRoundedToUnits) {
  MixedConvolution conv;
  conv.qdq.output("y", 1, kZeroU8);
  EXPECT_EQ(folded_bias(conv.qdq, "Conv"), kRounded);
}

TEST(RoundBias, IsRoundedBeforeReluAndClipToo) {
  MixedConvolution conv;
  conv.qdq.model().initializer("least", f32({}, {0.5F})).initializer("most", f32({}, {2}));
  conv.qdq.model().node("Relu", {"y"}, {"r"}).node("Clip", {"r", "least", "most"}, {"c"});
  conv.qdq.output("c", 1, kZeroU8);
  EXPECT_EQ(folded_bias(conv.qdq, "Conv"), kRounded);
}

TEST(RoundBias, OfAResultThatIsReadTwiceStays) {
  MixedConvolution conv;
  conv.qdq.output("y", 1, kZeroU8);
  conv.qdq.model().node("Neg", {"y"}, {"n"}).output("n");
  EXPECT_EQ(folded_bias(conv.qdq, "Conv"), kBias);
}

TEST(RoundBias, OfAResultThatIsAnOutputStays) {
  MixedConvolution conv;
  conv.qdq.output("y", 1, kZeroU8);
  conv.qdq.model().output("y");
  EXPECT_EQ(folded_bias(conv.qdq, "Conv"), kBias);
}

TEST(RoundBias, OfAResultThatIsNotQuantizedStays) {
  MixedConvolution conv;
  conv.qdq.model().node("Neg", {"y"}, {"n"});
  conv.qdq.output("n", 1, kZeroU8);
  EXPECT_EQ(folded_bias(conv.qdq, "Conv"), kBias);
}

TEST(RoundBias, BesideFloatWeightsStays) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 2, 3, 3}, 0.5F, kZeroS8);
  qdq.model().initializer("w", f32({2, 2, 1, 1}, {1, 2, 3, 4})).initializer("b", kBias);
  qdq.model().node("Conv", {x, "w", "b"}, {"y"});
  qdq.output("y", 1, kZeroU8);
  EXPECT_EQ(folded_bias(qdq, "Conv"), kBias);
}

// Of the transposed weights' two axes, the other one is that of the outputs.
TEST(RoundBias, OfAGemmIsRoundedWithWeightsAlongItsOutputs) {
  for (const std::int64_t transposed : {0, 1}) {
    for (const std::int64_t axis : {0, 1}) {
      QdqModel qdq;
      const std::string x = qdq.input("x", {1, 2}, 0.5F, kZeroS8);
      const std::string w =
          qdq.weights("w", s8({2, 2}, {1, 2, 3, 4}), f32({2}, {0.25F, 0.125F}), axis);
      qdq.model().initializer("b", kBias);
      qdq.model().node("Gemm", {x, w, "b"}, {"y"}, {{"transB", transposed}});
      qdq.output("y", 1, kZeroU8);
      EXPECT_EQ(folded_bias(qdq, "Gemm"), axis != transposed ? kRounded : kBias);
    }
  }
}

TEST(RoundBias, OfATransposedConvolutionIsRoundedWithWeightsOfOneScale) {
  for (const bool one_scale : {true, false}) {
    QdqModel qdq;
    const std::string x = qdq.input("x", {1, 2, 3, 3}, 0.5F, kZeroS8);
    const Tensor scale = one_scale ? f32({}, {0.25F}) : f32({2}, {0.25F, 0.125F});
    const std::string w = qdq.weights("w", s8({2, 2, 1, 1}, {1, 2, 3, 4}), scale, 1);
    qdq.model().initializer("b", kBias).node("ConvTranspose", {x, w, "b"}, {"y"});
    qdq.output("y", 1, kZeroU8);
    EXPECT_EQ(folded_bias(qdq, "ConvTranspose"), one_scale ? f32({2}, {0.25F, -0.25F}) : kBias);
  }
}

TEST(RoundBias, BeyondTheUnitsOfInt32Stays) {
  const Tensor large = f32({2}, {0x1p31F * 0.125F, 0.3F});
  MixedConvolution conv(large);
  conv.qdq.output("y", 1, kZeroU8);
  EXPECT_EQ(folded_bias(conv.qdq, "Conv"), large);
}

TEST(RoundBias, IsAnIntegerWhereTypesMayDiffer) {
  MixedConvolution conv;
  conv.qdq.output("y", 1, kZeroU8);
  EXPECT_EQ(conv.qdq.operators(QdqGroups::kAll), "QLinearConv");
}

// The results of ONNX Runtime 1.32 at its levels basic and all; without the rounding, at its level
// disabled, they are 0, 6, 18 and 118.
TEST(RoundBias, GivesTheResultsOfOnnxRuntime) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 1, 1, 4}, 0.5F, kZeroS8);
  const std::string w = qdq.weights("w", s8({1, 1, 1, 1}, {1}), f32({}, {0.25F}));
  qdq.model().initializer("b", f32({1}, {0.06F})).node("Conv", {x, w, "b"}, {"y"});
  qdq.model().node("Relu", {"y"}, {"r"});
  qdq.output("r", 0.01F, kZeroU8);
  Sink sink;
  const auto graph = qdq.fold(sink);
  ASSERT_TRUE(graph);
  EXPECT_EQ(evaluate(*graph, {s8({1, 1, 1, 4}, {-3, 0, 1, 9})}).at(0),
            u8({1, 1, 1, 4}, {0, 0, 12, 112}));
}

}  // namespace
}  // namespace etch
