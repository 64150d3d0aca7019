// Tests of constant folding beyond what resolve's tests show: dequantization on request, bounds.
#include "compiler/passes/fold.h"

#include <gtest/gtest.h>

#include "compiler/ops/evaluate.h"
#include "compiler/passes/fold_qdq.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

Graph loaded(const ModelBuilder& model) {
  Sink sink;
  auto graph = load(model, sink);
  EXPECT_TRUE(graph.has_value()) << errors_of(sink);
  return graph.value_or(Graph{});
}

// w = DequantizeLinear([3, -4]); y = x + w
ModelBuilder dequantized_weight() {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.initializer("q", Tensor::of<std::int8_t>({2}, {3, -4}));
  model.initializer("scale", Tensor::of<float>({}, {0.5F}));
  model.initializer("zero", Tensor::of<std::int8_t>({}, {1}));
  model.node("DequantizeLinear", {"q", "scale", "zero"}, {"w"});
  model.node("Add", {"x", "w"}, {"y"}).output("y");
  return model;
}

TEST(FoldConstants, DequantizesOnRequest) {
  Graph graph = loaded(dequantized_weight());
  fold_constants(graph, FoldDequantize::kYes);
  ASSERT_EQ(graph.nodes.size(), 1U);
  const Value& weight = graph.value(graph.nodes[0].inputs[1]);
  ASSERT_NE(weight.constant, nullptr);
  EXPECT_EQ(*weight.constant, Tensor::of<float>({2}, {1.0F, -2.5F}));
  verify(graph, Resolved::kYes);
}

TEST(FoldConstants, LeavesDequantizationAloneOtherwise) {
  Graph graph = loaded(dequantized_weight());
  const std::string before = dump(graph);
  fold_constants(graph, FoldDequantize::kNo);
  EXPECT_EQ(dump(graph), before);
}

// y = Expand(x, sizes), which a quantizer computes: Cast(DQ(Q(Ceil(DQ(Q(1.4))))) + DQ(q)).
Graph with_quantized_sizes() {
  ModelBuilder model(19);
  model.input("x", DType::kF32, {1}).initializer("c", Tensor::of<float>({1}, {1.4F}));
  model.initializer("q", Tensor::of<std::uint8_t>({1}, {7}));
  model.initializer("scale", Tensor::of<float>({}, {0.5F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {1}));
  model.node("QuantizeLinear", {"c", "scale", "zero"}, {"n0"});
  model.node("DequantizeLinear", {"n0", "scale", "zero"}, {"n1"});  // 1.5
  model.node("Ceil", {"n1"}, {"n2"});
  model.node("QuantizeLinear", {"n2", "scale", "zero"}, {"n3"});
  model.node("DequantizeLinear", {"n3", "scale", "zero"}, {"n4"});  // 2
  model.node("DequantizeLinear", {"q", "scale", "zero"}, {"n5"});   // 3
  model.node("Add", {"n4", "n5"}, {"n6"});
  model.node("Cast", {"n6"}, {"sizes"}, {{"to", std::int64_t{7}}});
  model.node("Expand", {"x", "sizes"}, {"y"}).output("y");
  Sink sink;
  return load(model, sink).value_or(Graph{});
}

TEST(FoldConstants, KnowsSizesThatAQuantizerTookForWeights) {
  const Graph graph = with_quantized_sizes();
  ASSERT_EQ(graph.outputs.size(), 1U);
  EXPECT_EQ(graph.value(graph.outputs[0]).shape, (Shape{5}));
}

// x + Cast(DQ(Q(op(DQ(a), DQ(b))))), whose result in units of the Q is a tie: 2.5, and its zero
// point odd. QLinearAdd and QLinearMul add this before they round.
std::int64_t rounded_by(const char* op, std::uint8_t a, std::uint8_t b, float unit) {
  ModelBuilder model(19);
  model.input("x", DType::kS64, {1}).initializer("a", Tensor::of<std::uint8_t>({1}, {a}));
  model.initializer("b", Tensor::of<std::uint8_t>({1}, {b}));
  model.initializer("half", Tensor::of<float>({}, {0.5F}));
  model.initializer("unit", Tensor::of<float>({}, {unit}));
  model.initializer("one", Tensor::of<float>({}, {1}));
  model.initializer("odd", Tensor::of<std::uint8_t>({}, {1}));
  model.node("DequantizeLinear", {"a", "half"}, {"n0"});
  model.node("DequantizeLinear", {"b", "unit"}, {"n1"}).node(op, {"n0", "n1"}, {"n2"});
  model.node("QuantizeLinear", {"n2", "one", "odd"}, {"n3"});
  model.node("DequantizeLinear", {"n3", "one", "odd"}, {"n4"});
  model.node("Cast", {"n4"}, {"n5"}, {{"to", std::int64_t{7}}});
  model.node("Add", {"x", "n5"}, {"y"}).output("y");
  Graph graph = loaded(model);
  Sink sink;
  fold_qdq(graph, sink, QdqGroups::kOfOnnxRuntime);
  return evaluate(graph, {Tensor::of<std::int64_t>({1}, {0})}).at(0).integer(0);
}

TEST(FoldConstants, GroupsOfNumbersRoundAsTheirIntegerOperators) {
  EXPECT_EQ(rounded_by("Add", 4, 1, 0.5F), 3);
  EXPECT_EQ(rounded_by("Mul", 5, 1, 1), 3);
}

TEST(FoldConstants, OtherResultsOfDequantizedNumbersStayComputed) {
  ModelBuilder model = dequantized_weight();
  model.node("Neg", {"w"}, {"n"}).node("Mul", {"x", "n"}, {"z"}).output("z");
  const Graph graph = loaded(model);
  EXPECT_EQ(graph.nodes.size(), 4U);
}

// Resolve knows the mask already, and the reference does not make it again.
TEST(FoldConstants, FoldsDropoutOfAConstantWithItsMask) {
  ModelBuilder model;
  model.initializer("c", Tensor::of<float>({2}, {3.0F, 4.0F}));
  model.node("Dropout", {"c"}, {"y", "mask"}).output("y").output("mask");
  const Graph graph = loaded(model);
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_EQ(*graph.value(graph.outputs[0]).constant, Tensor::of<float>({2}, {3.0F, 4.0F}));
  EXPECT_EQ(graph.value(graph.outputs[1]).constant->integers(), (std::vector<std::int64_t>{1, 1}));
}

TEST(FoldConstants, CountsTheWindowsOfConvolutions) {
  ModelBuilder model;
  model.initializer("x", Tensor(DType::kF32, {1, 1, 512, 512}));
  model.initializer("w", Tensor(DType::kF32, {1, 1, 400, 400}));
  model.node("Conv", {"x", "w"}, {"y"}, {{"pads", Ints{200, 200, 200, 200}}}).output("y");
  EXPECT_EQ(loaded(model).nodes.size(), 1U);
}

TEST(FoldConstants, CountsTheNeighboursOfLrn) {
  ModelBuilder model;
  model.initializer("x", Tensor(DType::kF32, {1, 100'000, 1, 1}));
  model.node("LRN", {"x"}, {"y"}, {{"size", std::int64_t{100'001}}}).output("y");
  EXPECT_EQ(loaded(model).nodes.size(), 1U);
}

TEST(FoldConstants, LeavesHugeResultsToRunTime) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1});
  model.initializer("one", Tensor::of<float>({1}, {1.0F}));
  model.initializer("shape", Tensor::of<std::int64_t>({2}, {1 << 13, 1 << 12}));
  model.node("Expand", {"one", "shape"}, {"y"}).output("y");
  const Graph graph = loaded(model);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.value(graph.outputs[0]).constant, nullptr);
}

TEST(FoldConstants, LeavesProductsOfLargeMatricesToRunTime) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1});
  const Tensor matrix(DType::kF32, {2048, 2048});
  model.initializer("a", matrix).initializer("b", matrix);
  model.node("MatMul", {"a", "b"}, {"y"}).output("y");
  EXPECT_EQ(loaded(model).nodes.size(), 1U);
}

}  // namespace
}  // namespace etch
