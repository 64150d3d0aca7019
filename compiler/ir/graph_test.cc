// Tests of the graph's bookkeeping, invariants and text form.
#include "compiler/ir/graph.h"

#include <gtest/gtest.h>

#include <sstream>

namespace etch {
namespace {

Value typed(std::string name, Shape shape) {
  return {std::move(name), DType::kF32, shape, nullptr};
}

// x -> Neg -> t; (t, c) -> Add -> y
Graph two_nodes() {
  Graph graph;
  graph.name = "small";
  graph.ir_version = 8;
  graph.opsets = {{"", 13}};
  const ValueId x = graph.add_value(typed("x", {2}));
  const ValueId c = graph.add_constant(Tensor::of<float>({2}, {1.0F, 0.1F}), "c");
  const ValueId t = graph.add_value(typed("t", {2}));
  const ValueId y = graph.add_value(typed("y", {2}));
  Node neg;
  neg.index = 0;
  neg.name = "first";
  neg.op_type = "Neg";
  neg.inputs = {x};
  neg.outputs = {t};
  Node add;
  add.index = 1;
  add.op_type = "Add";
  add.inputs = {t, c};
  add.outputs = {y};
  add.attributes["steps"] = std::vector<std::int64_t>{1, 2};
  graph.nodes = {neg, add};
  graph.inputs = {x};
  graph.outputs = {y};
  return graph;
}

TEST(Graph, AConstantBringsItsTypeAndShape) {
  Graph graph;
  const ValueId id = graph.add_constant(Tensor::of<std::int8_t>({1, 3}, {1, 2, 3}), "w");
  EXPECT_EQ(graph.value(id).dtype, DType::kS8);
  EXPECT_EQ(graph.value(id).shape, (Shape{1, 3}));
  EXPECT_EQ(graph.value(id).name, "w");
}

TEST(Graph, AnOperatorSetThatIsNotImportedHasVersionZero) {
  const Graph graph = two_nodes();
  EXPECT_EQ(graph.opset(""), 13);
  EXPECT_EQ(graph.opset("com.microsoft"), 0);
}

TEST(Graph, ANodeIsCalledByItsNameOrElseItsPosition) {
  const Graph graph = two_nodes();
  EXPECT_EQ(location_of(graph.nodes[0]), "node 'first' (Neg)");
  EXPECT_EQ(location_of(graph.nodes[1]), "node #1 (Add)");
}

TEST(Graph, TheEndOfALoopIsCalledAsTheLoopIsInTheFile) {
  Node node;
  node.name = "each";
  node.domain = "org.etch";
  node.op_type = "LoopEnd";
  EXPECT_EQ(location_of(node), "node 'each' (Loop)");
  node.domain = "org.users";
  EXPECT_EQ(location_of(node), "node 'each' (LoopEnd)");
}

TEST(Graph, NamesInLocationsArePrintable) {
  Node node;
  node.name = std::string("a\nb\0c", 5);
  node.op_type = "\x1b[31m";
  EXPECT_EQ(location_of(node), "node 'a\\x0ab\\x00c' (\\x1b[31m)");
}

TEST(Graph, KnowsConsumersAndProducers) {
  Graph graph = two_nodes();
  graph.nodes[1].inputs = {2, 2};  // t twice
  EXPECT_EQ(consumers_of(graph), (std::vector<std::vector<int>>{{0}, {}, {1, 1}, {}}));
  EXPECT_EQ(producers_of(graph), (std::vector<int>{-1, -1, 0, 1}));
}

TEST(Graph, OmittedInputsAndOutputsHaveNeitherConsumersNorProducers) {
  Graph graph = two_nodes();
  graph.nodes[1].inputs = {2, kNoValue};
  graph.nodes[0].outputs = {2, kNoValue};
  EXPECT_EQ(consumers_of(graph)[2], std::vector<int>{1});
  EXPECT_EQ(producers_of(graph)[2], 0);
  verify(graph, Resolved::kNo);
}

TEST(GraphDump, ShowsEveryValueAndNodeOnItsLine) {
  EXPECT_EQ(dump(two_nodes()),
            "graph \"small\" ir 8\n"
            "opset ai.onnx 13\n"
            "%0 float32[2]  # x\n"
            "%1 float32[2] {1, 0.1}  # c\n"
            "%2 float32[2]  # t\n"
            "%3 float32[2]  # y\n"
            "inputs %0\n"
            "%2 = Neg(%0)  # first\n"
            "%3 = Add(%2, %1) steps=[1, 2]\n"
            "outputs %3\n");
}

TEST(GraphDump, LargeConstantsShowAsAChecksumOfTheirContent) {
  Graph graph;
  graph.add_constant(Tensor(DType::kU8, {100}));
  Tensor other(DType::kU8, {100});
  other.as<std::uint8_t>()[99] = 1;
  graph.add_constant(other);
  graph.add_constant(Tensor(DType::kU8, {100}));
  std::vector<std::string> lines;
  std::istringstream text(dump(graph));
  for (std::string line; std::getline(text, line);) lines.push_back(line.substr(line.find(' ')));
  EXPECT_EQ(lines.at(1), lines.at(3));
  EXPECT_NE(lines.at(1), lines.at(2));
}

TEST(GraphDump, SaysWhatIsNotKnownYet) {
  Graph graph;
  graph.add_value({"v", std::nullopt, std::nullopt, nullptr});
  EXPECT_NE(dump(graph).find("%0 ?[?]  # v\n"), std::string::npos);
}

TEST(GraphDeathTest, AnOmittedInputIsNoValue) {
  const Graph graph = two_nodes();
  EXPECT_EXIT(graph.value(kNoValue), ::testing::ExitedWithCode(70), "internal error");
}

TEST(GraphVerifyDeathTest, AcceptsASoundGraph) { verify(two_nodes(), Resolved::kNo); }

TEST(GraphVerifyDeathTest, StopsAtAUseBeforeTheDefinition) {
  Graph graph = two_nodes();
  std::swap(graph.nodes[0], graph.nodes[1]);
  EXPECT_EXIT(verify(graph, Resolved::kNo), ::testing::ExitedWithCode(70), "internal error");
}

TEST(GraphVerifyDeathTest, StopsAtAValueWithTwoProducers) {
  Graph graph = two_nodes();
  graph.nodes[1].outputs = {2};
  EXPECT_EXIT(verify(graph, Resolved::kNo), ::testing::ExitedWithCode(70), "internal error");
}

TEST(GraphVerifyDeathTest, StopsAtAProducedConstant) {
  Graph graph = two_nodes();
  graph.nodes[1].outputs = {1};
  EXPECT_EXIT(verify(graph, Resolved::kNo), ::testing::ExitedWithCode(70), "internal error");
}

TEST(GraphVerifyDeathTest, StopsAtAnIdOutOfRange) {
  Graph graph = two_nodes();
  graph.nodes[1].inputs = {2, 99};
  EXPECT_EXIT(verify(graph, Resolved::kNo), ::testing::ExitedWithCode(70), "internal error");
}

TEST(GraphVerifyDeathTest, StopsAtAnUntypedValueAfterResolve) {
  Graph graph = two_nodes();
  graph.nodes.clear();
  graph.outputs = graph.inputs;
  verify(graph, Resolved::kYes);
  graph.values[2].shape->at(0) = -1;
  EXPECT_EXIT(verify(graph, Resolved::kYes), ::testing::ExitedWithCode(70), "internal error");
}

}  // namespace
}  // namespace etch
