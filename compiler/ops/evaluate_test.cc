// Running of whole graphs by reference functions.
#include "compiler/ops/evaluate.h"

#include <gtest/gtest.h>

#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Evaluate, FeedsResultsForwardAndMayUseThemTwice) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).initializer("c", f32({}, {10}));
  model.node("Add", {"x", "c"}, {"y"}).node("Mul", {"y", "y"}, {"z"}).output("z").output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const auto outputs = evaluate(*graph, {f32({2}, {1, -10})});
  EXPECT_EQ(outputs.at(0), f32({2}, {121, 0}));
  EXPECT_EQ(outputs.at(1), f32({2}, {11, 0}));
}

TEST(Evaluate, OutputMayBeAConstantOrAnInput) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).initializer("c", f32({1}, {10})).output("c").output("x");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const auto outputs = evaluate(*graph, {f32({2}, {1, 2})});
  EXPECT_EQ(outputs.at(0), f32({1}, {10}));
  EXPECT_EQ(outputs.at(1), f32({2}, {1, 2}));
}

TEST(Evaluate, TensorsMayHaveNoElements) {
  ModelBuilder model;
  model.input("past", DType::kF32, {0, 2}).input("x", DType::kF32, {1, 2});
  model.initializer("axes", s64({1}, {0}));
  model.node("Concat", {"past", "x"}, {"all"}, {{"axis", std::int64_t{0}}});
  model.node("ReduceSum", {"past", "axes"}, {"sum"}).node("Abs", {"past"}, {"none"});
  model.output("all").output("sum").output("none").output("past");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Tensor nothing(DType::kF32, {0, 2});
  const auto outputs = evaluate(*graph, {nothing, f32({1, 2}, {3, -4})});
  EXPECT_EQ(outputs.at(0), f32({1, 2}, {3, -4}));
  EXPECT_EQ(outputs.at(1), f32({1, 2}, {0, 0}));
  EXPECT_EQ(outputs.at(2), nothing);
  EXPECT_EQ(outputs.at(3), nothing);
}

TEST(Evaluate, OtherFloatsMayHaveNoElements) {
  for (const DType type : {DType::kF16, DType::kF64}) {
    ModelBuilder model;
    model.input("x", type, {0, 2}).initializer("axes", s64({1}, {0}));
    model.node("ReduceSum", {"x", "axes"}, {"sum"}).node("Exp", {"x"}, {"y"});
    model.output("sum").output("y", type, {0, 2});
    Sink sink;
    const auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    const auto outputs = evaluate(*graph, {Tensor(type, {0, 2})});
    EXPECT_EQ(outputs.at(0).size(), 2);
    EXPECT_EQ(outputs.at(1), Tensor(type, {0, 2}));
  }
}

TEST(EvaluateDeathTest, InputsMustHaveTheDeclaredShape) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).node("Relu", {"x"}, {"y"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_DEATH(evaluate(*graph, {f32({3}, {1, 2, 3})}), "");
}

}  // namespace
}  // namespace etch
