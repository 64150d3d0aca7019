// What `etch prove` changes in a graph to find the words of constants: biases and scales of integer
// layers, and nothing of any other node.
#include "compiler/prove/layer.h"

#include <gtest/gtest.h>

#include "compiler/ops/qlinear_conv/op.h"
#include "compiler/ops/qlinear_matmul/op.h"

namespace etch {
namespace {

// A node with nine inputs, the last of which is a constant.
Node& node_with_nine_inputs(Graph& graph, Tensor last) {
  Node& node = graph.nodes.emplace_back();
  node.inputs.assign(8, kNoValue);
  node.inputs.push_back(graph.add_constant(std::move(last)));
  return node;
}

TEST(ProvedLayer, TagsTheBiasOfAConvolution) {
  Graph graph;
  Node& node = node_with_nine_inputs(graph, Tensor::of<std::int32_t>({2}, {10, 20}));
  node.params = QLinearConvParams{};
  EXPECT_TRUE(tag_bias(graph, node));
  const Tensor& tagged = *graph.value(node.inputs[8]).constant;
  EXPECT_EQ(tagged.integers(), (std::vector<std::int64_t>{11, 22}));
}

TEST(ProvedLayer, GivesAConvolutionWithoutABiasOneThatIsTagged) {
  Graph graph;
  Node& node = graph.nodes.emplace_back();
  node.inputs.assign(8, kNoValue);
  QLinearConvParams params;
  params.geometry.out_channels = 3;
  node.params = params;
  EXPECT_TRUE(tag_bias(graph, node));
  ASSERT_EQ(node.inputs.size(), 9U);
  const Tensor& tagged = *graph.value(node.inputs[8]).constant;
  EXPECT_EQ(tagged.integers(), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(ProvedLayer, LeavesABiasThatIsKnownAtRunTimeOnly) {
  Graph graph;
  Node& node = node_with_nine_inputs(graph, Tensor::of<std::int32_t>({2}, {10, 20}));
  node.params = QLinearConvParams{};
  graph.value(node.inputs[8]).constant = nullptr;
  EXPECT_FALSE(tag_bias(graph, node));
}

// The columns of a product are the channels of its step.
TEST(ProvedLayer, GivesQLinearMatMulABiasThatIsTagged) {
  Graph graph;
  Node& node = graph.nodes.emplace_back();
  QLinearMatMulParams params;
  params.geometry.cols = 3;
  params.b.emplace();
  params.b->scale = {0.5F};
  node.params = params;
  EXPECT_TRUE(tag_bias(graph, node));
  double_scale(node);
  const auto& tagged = std::any_cast<const QLinearMatMulParams&>(node.params);
  EXPECT_EQ(tagged.bias, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(tagged.b->scale, std::vector<float>{1});
}

// The ninth input of QLinearConcat is a tensor of bytes.
TEST(ProvedLayer, TagsNothingOfOtherOperators) {
  Graph graph;
  Node& node = node_with_nine_inputs(graph, Tensor::of<std::uint8_t>({2}, {10, 20}));
  const ValueId before = node.inputs[8];
  EXPECT_FALSE(tag_bias(graph, node));
  EXPECT_EQ(node.inputs[8], before);
}

TEST(ProvedLayer, ScalesThatAreKnownAtRunTimeOnlyAreNotDoubled) {
  Node node;
  node.params = QLinearConvParams{};
  double_scale(node);
  EXPECT_FALSE(std::any_cast<QLinearConvParams>(node.params).w);
  QLinearConvParams known;
  known.w.emplace();
  known.w->scale = {0.5F, 3};
  node.params = known;
  double_scale(node);
  EXPECT_EQ(std::any_cast<QLinearConvParams>(node.params).w->scale, (std::vector<float>{1, 6}));
}

}  // namespace
}  // namespace etch
