// Which Relus a float convolution takes over, and which stay.
#include "compiler/passes/fuse_relu.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/operators_after.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::string operators_after(const ModelBuilder& model) {
  return operators_after(model, fuse_relus);
}

ModelBuilder convolution() {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {1, 1, 3}).initializer("w", f32({1, 1, 2}, {1, -2}));
  model.node("Conv", {"x", "w"}, {"c"});
  return model;
}

TEST(FuseRelu, ConvolutionsTakeOverTheirRelu) {
  ModelBuilder model = convolution();
  model.node("Relu", {"c"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "ConvRelu");
}

TEST(FuseRelu, ConvolutionsTakeOverTheClipOfRelu6) {
  const auto with_limits = [](float low, float high) {
    ModelBuilder model = convolution();
    model.initializer("low", f32({}, {low})).initializer("high", f32({}, {high}));
    model.node("Clip", {"c", "low", "high"}, {"y"}).output("y");
    return operators_after(model);
  };
  EXPECT_EQ(with_limits(0, 6), "ConvRelu");
  EXPECT_EQ(with_limits(0, 0), "ConvRelu");
  EXPECT_EQ(with_limits(-1, 6), "Conv Clip");
  EXPECT_EQ(with_limits(1, 6), "Conv Clip");
  EXPECT_EQ(with_limits(-0.0F, 6), "Conv Clip");
  EXPECT_EQ(with_limits(0, -1), "Conv Clip");
}

TEST(FuseRelu, ResultsThatOthersReadStay) {
  ModelBuilder model = convolution();
  model.node("Relu", {"c"}, {"r"}).node("Add", {"r", "c"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "Conv Relu Add");
  ModelBuilder output = convolution();
  output.node("Relu", {"c"}, {"y"}).output("y").output("c");
  EXPECT_EQ(operators_after(output), "Conv Relu");
}

TEST(FuseRelu, ConvolutionsTakeOverConstantsOfTheirChannels) {
  for (const bool is_left : {false, true}) {
    ModelBuilder model(13);
    model.input("x", DType::kF32, {1, 1, 3}).initializer("w", f32({2, 1, 2}, {1, -2, 3, 0.5F}));
    model.node("Conv", {"x", "w"}, {"c"}).initializer("b", f32({2, 1}, {0.25F, -7}));
    const std::vector<std::string> operands{is_left ? "b" : "c", is_left ? "c" : "b"};
    model.node("Add", operands, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
    Sink sink;
    auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    fuse_relus(*graph);
    verify(*graph, Resolved::kYes);
    ASSERT_EQ(graph->nodes.size(), 1U);
    EXPECT_EQ(graph->nodes[0].op_type, "ConvRelu");
    EXPECT_EQ(*graph->value(graph->nodes[0].inputs.at(2)).constant, f32({2}, {0.25F, -7}));
  }
  ModelBuilder one = convolution();  // of all channels
  one.initializer("b", f32({}, {4})).node("Add", {"c", "b"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(one), "Conv");
}

TEST(FuseRelu, OtherSumsStay) {
  ModelBuilder positions = convolution();  // a constant per position
  positions.initializer("b", f32({2}, {1, 2})).node("Add", {"c", "b"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(positions), "Conv Add");
  ModelBuilder wider = convolution();  // that makes the result larger
  wider.initializer("b", f32({2, 1, 1}, {1, 2})).node("Add", {"c", "b"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(wider), "Conv Add");
  ModelBuilder biased(13);
  biased.input("x", DType::kF32, {1, 1, 3}).initializer("w", f32({1, 1, 2}, {1, -2}));
  biased.initializer("a", f32({1}, {1})).node("Conv", {"x", "w", "a"}, {"c"});
  biased.initializer("b", f32({1}, {4})).node("Add", {"c", "b"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(biased), "Conv Add");
  ModelBuilder read = convolution();
  read.initializer("b", f32({1}, {4})).node("Add", {"c", "b"}, {"y"}).output("y").output("c");
  EXPECT_EQ(operators_after(read), "Conv Add");
}

TEST(FuseRelu, OnlyTheFirstOfTwoIsTakenOver) {
  ModelBuilder model = convolution();
  model.node("Relu", {"c"}, {"r"}).node("Relu", {"r"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "ConvRelu Relu");
}

}  // namespace
}  // namespace etch
