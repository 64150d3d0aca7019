// What the fusion of QDQ groups says about the nodes that it left in float, and about the others.
#include "compiler/passes/qdq_faults.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/qdq_model.h"

namespace etch {
namespace {

// "Conv #3: reason" for every record, after the passes of `model`.
std::vector<std::string> records_of(const QdqModel& model, FusionRecord::Outcome outcome) {
  Sink sink;
  auto graph = model.fold(sink);
  std::vector<std::string> out;
  if (!graph) return out;
  graph->fusions.finish(*graph);
  for (const FusionRecord& record : graph->fusions.records()) {
    if (record.outcome == outcome) out.push_back(cat(record.op_type, ": ", record.what));
  }
  return out;
}
std::vector<std::string> missed(const QdqModel& model) {
  return records_of(model, FusionRecord::Outcome::kMissed);
}
std::vector<std::string> fused(const QdqModel& model) {
  return records_of(model, FusionRecord::Outcome::kFused);
}
using Lines = std::vector<std::string>;

// A 1x1 convolution of x, quantized with `zero`, and its weights.
struct Convolution : QdqModel {
  explicit Convolution(const Tensor& zero = kZeroS8, std::int64_t axis = 0) {
    x = input("x", {1, 2, 3, 3}, 0.5F, zero);
    w = weights("w", s8({2, 2, 1, 1}, {1, 2, 3, 4}), f32({2}, {0.25F, 0.125F}), axis);
    model().node("Conv", {x, w}, {"y"});
  }
  std::string x, w;
};

TEST(QdqFaults, NamesWhatAGroupBecame) {
  Convolution model;
  model.output("y", 1, kZeroS8);
  EXPECT_EQ(fused(model), Lines{"Conv: became QLinearConv"});
  EXPECT_EQ(missed(model), Lines{});
}

TEST(QdqFaults, NamesAnOutputThatIsNotQuantized) {
  Convolution model;
  model.model().output("y");
  EXPECT_EQ(missed(model), Lines{"Conv: its float result is a graph output"});
}

TEST(QdqFaults, NamesTheNodeThatUsesTheFloatResult) {
  Convolution model;
  model.model().node("LeakyRelu", {"y"}, {"z"});
  model.model().node_name("squash");
  model.model().output("z");
  EXPECT_EQ(missed(model), Lines{"Conv: its result is used as float by LeakyRelu 'squash'"});
}

TEST(QdqFaults, NamesTypesThatDoNotFit) {
  Convolution model(kZeroU8);
  model.output("y", 1, kZeroS8);
  EXPECT_EQ(missed(model),
            Lines{"Conv: the output is int8, needs uint8 as input 0 (--qdq all may take both "
                  "types)"});
}

TEST(QdqFaults, NamesTheAxisOfWeights) {
  Convolution model(kZeroS8, 1);
  model.output("y", 1, kZeroS8);
  EXPECT_EQ(missed(model),
            Lines{"Conv: input 1 is quantized along axis 1, needs axis 0 or per tensor"});
}

TEST(QdqFaults, NamesAnInputThatIsFloat) {
  QdqModel model;
  model.model().input("x", DType::kF32, {1, 2, 3, 3});
  const std::string w = model.weights("w", s8({2, 2, 1, 1}, {1, 2, 3, 4}), f32({2}, {1, 2}));
  model.model().node("Conv", {"x", w}, {"y"});
  model.output("y", 1, kZeroS8);
  EXPECT_EQ(missed(model), Lines{"Conv: input 0 does not come from a DequantizeLinear of constant "
                                 "parameters"});
}

TEST(QdqFaults, NamesTheFloatInputOfWeightOnlyQuantizationFirst) {
  QdqModel model;
  model.model().input("x", DType::kF32, {1, 2, 3, 3});
  const std::string w = model.weights("w", s8({2, 2, 1, 1}, {1, 2, 3, 4}), f32({2}, {1, 2}));
  model.model().node("Conv", {"x", w}, {"y"});
  model.model().output("y");
  EXPECT_EQ(missed(model), Lines{"Conv: input 0 does not come from a DequantizeLinear of constant "
                                 "parameters"});
}

TEST(QdqFaults, NamesAResultThatIsQuantizedInTwoWays) {
  Convolution model;
  model.output("y", 1, kZeroS8);
  model.output("y", 2, kZeroS8);
  EXPECT_EQ(missed(model), Lines{"Conv: its result is quantized in two different ways"});
}

TEST(QdqFaults, NamesABiasOfAnotherScale) {
  QdqModel model;
  const std::string x = model.input("x", {1, 2, 3, 3}, 0.5F, kZeroS8);
  const std::string w = model.weights("w", s8({2, 2, 1, 1}, {1, 2, 3, 4}), f32({2}, {1, 1}));
  const std::string b = model.weights("b", s32({2}, {100, -200}), f32({2}, {3, 3}));
  model.model().node("Conv", {x, w, b}, {"y"});
  model.output("y", 1, kZeroS8);
  EXPECT_EQ(missed(model), Lines{"Conv: the bias' scale is not input scale * weight scale"});
}

// 0 / 0 would be no integer.
TEST(QdqFaults, NamesABiasWithoutAUnit) {
  for (const float scale : {1e-30F, 1e30F}) {
    QdqModel model;
    const std::string x = model.input("x", {1, 2, 3, 3}, scale, kZeroS8);
    const std::string w =
        model.weights("w", s8({2, 2, 1, 1}, {1, 2, 3, 4}), f32({2}, {scale, scale}));
    model.model().initializer("b", f32({2}, {0, 0}));
    model.model().node("Conv", {x, w, "b"}, {"y"});
    model.output("y", 1, kZeroS8);
    EXPECT_EQ(missed(model), Lines{"Conv: input scale * weight scale is 0 or infinite in float32"});
  }
}

TEST(QdqFaults, NamesAReluThatTheRangeDoesNotImply) {
  QdqModel model;
  const std::string x = model.input("x", {1, 2, 3, 3}, 0.5F, kZeroS8);
  model.model().node("GlobalAveragePool", {x}, {"y"});
  model.model().node("Relu", {"y"}, {"z"});
  model.output("z", 1, kZeroS8);
  EXPECT_EQ(missed(model),
            (Lines{"GlobalAveragePool: its result is used as float by Relu #2",
                   "Relu: the range of the QuantizeLinear after it is wider than what it lets "
                   "through"}));
}

TEST(QdqFaults, NamesAReluThatBecameLimits) {
  Convolution model;
  model.model().node("Relu", {"y"}, {"z"});
  model.output("z", 1, kZeroS8);
  EXPECT_EQ(fused(model),
            (Lines{"Conv: became QLinearConv", "Relu: became limits of QLinearConv"}));
  EXPECT_EQ(missed(model), Lines{});
}

TEST(QdqFaults, SaysNothingAboutNodesThatAreFloatOnBothSides) {
  QdqModel model;
  model.model().input("x", DType::kF32, {1, 2});
  model.model().node("Relu", {"x"}, {"y"});
  model.model().output("y");
  EXPECT_EQ(missed(model), Lines{});
  EXPECT_EQ(fused(model), Lines{});
}

TEST(FusionLog, ForgetsAReasonOnceTheNodeIsFusedOrGone) {
  FusionLog log;
  Node conv;
  conv.index = 3;
  conv.op_type = "Conv";
  conv.name = "a\nb";
  Node relu;
  relu.index = 4;
  relu.op_type = "Relu";
  log.missed(conv, "first");
  log.missed(conv, "second");
  log.missed(relu, "gone later");
  ASSERT_EQ(log.records().size(), 2U);
  EXPECT_EQ(log.records()[0].what, "second");
  log.fused(conv, "became QLinearConv");
  log.fused(conv, "became QLinearConv");
  Graph graph;  // without Relu
  log.finish(graph);
  ASSERT_EQ(log.records().size(), 1U);
  EXPECT_EQ(log.records()[0].what, "became QLinearConv");
  EXPECT_EQ(title_of(log.records()[0]), "Conv 'a\\x0ab'");
}

}  // namespace
}  // namespace etch
