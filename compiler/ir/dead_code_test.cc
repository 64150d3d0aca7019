// Tests of dead code removal on graphs made by hand: no operator is needed.
#include "compiler/ir/dead_code.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

ValueId add_value(Graph& graph, std::string name) {
  return graph.add_value({std::move(name), DType::kF32, Shape{1}, nullptr});
}

Node node_of(std::string type, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node node;
  node.op_type = std::move(type);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

TEST(RemoveDead, RemovesAChainThatEndsNowhereAndRenumbers) {
  Graph graph;
  const ValueId unused = graph.add_constant(Tensor::of<float>({1}, {1.0F}), "unused");
  const ValueId x = add_value(graph, "x");
  const ValueId a = add_value(graph, "a");
  const ValueId b = add_value(graph, "b");
  const ValueId y = add_value(graph, "y");
  graph.inputs = {x};
  graph.outputs = {y};
  graph.nodes = {node_of("A", {x, unused}, {a}), node_of("B", {a}, {b}), node_of("Y", {x}, {y})};
  remove_dead(graph);
  EXPECT_EQ(dump(graph),
            "graph \"\" ir 0\n"
            "%0 float32[1]  # x\n"
            "%1 float32[1]  # y\n"
            "inputs %0\n"
            "%1 = Y(%0)\n"
            "outputs %1\n");
}

TEST(RemoveDead, KeepsANodeOfWhichOneOutputIsUsed) {
  Graph graph;
  const ValueId x = add_value(graph, "x");
  const ValueId a = add_value(graph, "a");
  const ValueId b = add_value(graph, "b");
  graph.inputs = {x};
  graph.outputs = {b};
  graph.nodes = {node_of("Split", {x, kNoValue}, {a, kNoValue, b})};
  remove_dead(graph);
  EXPECT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.values.size(), 3U);
  verify(graph, Resolved::kNo);
}

TEST(RemoveDead, RemovesANodeWhoseOutputBecameAConstant) {
  Graph graph;
  const ValueId c = graph.add_constant(Tensor::of<float>({1}, {1.0F}), "c");
  const ValueId y = graph.add_constant(Tensor::of<float>({1}, {2.0F}), "y");
  graph.outputs = {y};
  graph.nodes = {node_of("Exp", {c}, {y})};
  remove_dead(graph);
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_EQ(graph.values.size(), 1U);
  verify(graph, Resolved::kNo);
}

TEST(RemoveDead, KeepsInputsThatNothingReads) {
  Graph graph;
  const ValueId x = add_value(graph, "x");
  const ValueId unread = add_value(graph, "unread");
  graph.inputs = {x, unread};
  graph.outputs = {x};
  remove_dead(graph);
  EXPECT_EQ(graph.inputs.size(), 2U);
  EXPECT_EQ(graph.values.size(), 2U);
}

}  // namespace
}  // namespace etch
