// int8 between Q and DQ as uint8, and what groups of mixed types become with --qdq all.
#include "compiler/passes/retype_pairs.h"

#include <gtest/gtest.h>

#include "tests/support/qdq_model.h"

namespace etch {
namespace {

// The graph of `model` after resolve, and how many pairs were changed in it.
int retyped(QdqModel model, Graph& out) {
  Sink sink;
  auto graph = load(model.model(), sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  if (!graph) return -1;
  out = std::move(*graph);
  return retype_pairs(out);
}

std::string operators_when_mixed(QdqModel model) {
  Sink sink;
  auto graph = load(model.model(), sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  if (!graph) return {};
  fold_qdq(*graph, sink, QdqGroups::kAll);
  std::string out;
  for (const Node& node : graph->nodes) out += cat(out.empty() ? "" : " ", node.op_type);
  return out;
}

// x (float) -> Q int8, zero point -3 -> DQ -> Relu -> Q uint8 -> DQ -> y.
struct TwoPairs : QdqModel {
  TwoPairs() {
    model().input("x", DType::kF32, {1, 4});
    const std::string first = quantize("x", 0.5F, s8({}, {-3}));
    model().node("Relu", {dequantize(first, 0.5F, s8({}, {-3}))}, {"r"});
    const std::string second = quantize("r", 0.25F, u8({}, {7}));
    model().output(dequantize(second, 0.25F, u8({}, {7})));
  }
};

TEST(RetypePairs, AddsHalfOfTheRangeToTheZeroPoint) {
  Graph graph;
  ASSERT_EQ(retyped(TwoPairs(), graph), 1);
  const auto by = quantized_by(graph, graph.nodes.at(0));
  ASSERT_TRUE(by);
  EXPECT_EQ(by->dtype, DType::kU8);
  EXPECT_EQ(by->quantization.zero_point_at(0), 125);
  EXPECT_EQ(by->quantization.scale_at(0), 0.5F);
  EXPECT_TRUE(same_quantization(*by, *dequantized_by(graph, graph.nodes.at(1))));
}

TEST(RetypePairs, LeavesNetworksOfOneType) {
  QdqModel model;
  model.model().input("x", DType::kF32, {1, 4});
  model.model().output(model.dequantize(model.quantize("x", 0.5F, kZeroS8), 0.5F, kZeroS8));
  Graph graph;
  EXPECT_EQ(retyped(model, graph), 0);
}

TEST(RetypePairs, LeavesOutputs) {
  TwoPairs model;
  model.model().output("x_q_1");
  Graph graph;
  EXPECT_EQ(retyped(model, graph), 0);
}

TEST(RetypePairs, LeavesIntegersThatAreDequantizedOtherwise) {
  TwoPairs model;
  model.model().output(model.dequantize("x_q_1", 0.125F, s8({}, {-3})));
  Graph graph;
  EXPECT_EQ(retyped(model, graph), 0);
}

TEST(MixedTypes, ProductsTakeAnyTypes) {
  for (const bool input_signed : {true, false}) {
    QdqConvolution conv(input_signed ? kZeroS8 : kZeroU8);
    conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"});
    conv.qdq.output("y", 1, input_signed ? kZeroU8 : kZeroS8);
    EXPECT_EQ(conv.qdq.operators(), "DequantizeLinear DequantizeLinear Conv QuantizeLinear");
    EXPECT_EQ(operators_when_mixed(conv.qdq), "QLinearConv");
  }
}

TEST(MixedTypes, Uint8WeightsBesideInt8) {
  QdqModel model;
  const std::string x = model.input("x", {1, 2}, 0.5F, kZeroS8);
  const std::string w = model.weights("w", u8({2, 2}, {1, 2, 3, 4}), f32({}, {0.25F}), 1);
  model.model().node("MatMul", {x, w}, {"y"});
  model.output("y", 1, kZeroS8);
  EXPECT_EQ(operators_when_mixed(model), "QLinearMatMul");
}

// int8 of a convolution and uint8 of a Relu: one type after the change.
TEST(MixedTypes, SumsGetOneType) {
  QdqModel model;
  model.model().input("x", DType::kF32, {1, 4});
  const std::string a = model.dequantize(model.quantize("x", 0.5F, kZeroS8), 0.5F, kZeroS8);
  const std::string b = model.dequantize(model.quantize("x", 0.25F, kZeroU8), 0.25F, kZeroU8);
  model.model().node("Add", {a, b}, {"sum"});
  model.output("sum", 1, kZeroU8);
  EXPECT_EQ(operators_when_mixed(model), "QuantizeLinear QuantizeLinear QLinearAdd");
}

}  // namespace
}  // namespace etch
