// Tests of the exchange of QuantizeLinear with relabelling operators.
#include "compiler/passes/hoist_relabel.h"

#include <gtest/gtest.h>

#include "tests/support/model_builder.h"

namespace etch {
namespace {

// q = QuantizeLinear(x [2, 3]); y = Reshape(q, [3, 2])
ModelBuilder quantized_then_reshaped(const Tensor& scale) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2, 3});
  model.initializer("scale", scale);
  model.initializer("shape", Tensor::of<std::int64_t>({2}, {3, 2}));
  model.node("QuantizeLinear", {"x", "scale"}, {"q"});
  model.node("Reshape", {"q", "shape"}, {"y"}).output("y");
  return model;
}

Graph hoisted(const ModelBuilder& model) {
  Sink sink;
  Graph graph = load(model, sink).value_or(Graph{});
  hoist_relabel(graph, sink);
  EXPECT_EQ(errors_of(sink), "");
  verify(graph, Resolved::kYes);
  return graph;
}

TEST(HoistRelabel, PutsReshapeBeforeQuantizePerTensor) {
  const Graph graph = hoisted(quantized_then_reshaped(Tensor::of<float>({}, {0.5F})));
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].op_type, "Reshape");
  EXPECT_EQ(graph.nodes[1].op_type, "QuantizeLinear");
  EXPECT_EQ(graph.value(graph.nodes[0].outputs[0]).dtype, DType::kF32);
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{3, 2}));
  EXPECT_EQ(graph.value(graph.outputs[0]).dtype, DType::kU8);
}

TEST(HoistRelabel, LeavesPerAxisQuantizationInPlace) {
  const Graph graph =
      hoisted(quantized_then_reshaped(Tensor::of<float>({3}, {0.5F, 0.25F, 0.125F})));
  EXPECT_EQ(graph.nodes[0].op_type, "QuantizeLinear");
}

TEST(HoistRelabel, LeavesQuantizeWithAnotherConsumerInPlace) {
  ModelBuilder model = quantized_then_reshaped(Tensor::of<float>({}, {0.5F}));
  model.output("q");
  EXPECT_EQ(hoisted(model).nodes[0].op_type, "QuantizeLinear");
}

TEST(HoistRelabel, LeavesQuantizeWithASecondReaderInPlace) {
  ModelBuilder model = quantized_then_reshaped(Tensor::of<float>({}, {0.5F}));
  model.node("Reshape", {"q", "shape"}, {"z"}).output("z");
  EXPECT_EQ(hoisted(model).nodes[0].op_type, "QuantizeLinear");
}

TEST(HoistRelabel, LeavesReshapesOfInputsAndOfOtherOperatorsInPlace) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2, 3});
  model.initializer("shape", Tensor::of<std::int64_t>({2}, {3, 2}));
  model.node("Reshape", {"x", "shape"}, {"a"}).node("Relu", {"a"}, {"b"});
  model.node("Reshape", {"b", "shape"}, {"y"}).output("y");
  const Graph graph = hoisted(model);
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[0].op_type, "Reshape");
  EXPECT_EQ(graph.nodes[1].op_type, "Relu");
}

}  // namespace
}  // namespace etch
