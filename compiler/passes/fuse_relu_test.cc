// Which Relus a float convolution takes over, and which stay.
#include "compiler/passes/fuse_relu.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::string operators_after(ModelBuilder& model) {
  Sink sink;
  auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  if (!graph) return {};
  fuse_relus(*graph);
  verify(*graph, Resolved::kYes);
  std::string out;
  for (const Node& node : graph->nodes) out += (out.empty() ? "" : " ") + node.op_type;
  return out;
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

TEST(FuseRelu, ResultsThatOthersReadStay) {
  ModelBuilder model = convolution();
  model.node("Relu", {"c"}, {"r"}).node("Add", {"r", "c"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "Conv Relu Add");
  ModelBuilder output = convolution();
  output.node("Relu", {"c"}, {"y"}).output("y").output("c");
  EXPECT_EQ(operators_after(output), "Conv Relu");
}

TEST(FuseRelu, OnlyTheFirstOfTwoIsTakenOver) {
  ModelBuilder model = convolution();
  model.node("Relu", {"c"}, {"r"}).node("Relu", {"r"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "ConvRelu Relu");
}

}  // namespace
}  // namespace etch
