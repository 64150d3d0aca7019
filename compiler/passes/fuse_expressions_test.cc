// Which operators become one expression, and which stay on their own.
#include "compiler/passes/fuse_expressions.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/base/text.h"
#include "compiler/ir/op_def.h"
#include "compiler/ops/expression/op.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Operators in order; those of an expression in brackets.
std::string operators_after(ModelBuilder& model) {
  Sink sink;
  auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  if (!graph) return {};
  fuse_expressions(*graph, true);
  verify(*graph, Resolved::kYes);
  std::string out;
  for (const Node& node : graph->nodes) {
    std::string name = node.op_type;
    if (name == "Expression") {
      name.clear();
      for (const ExpressionPart& part : params_of<Expression>(node).parts)
        name += cat(name.empty() ? "" : " ", part.node.op_type);
      name = cat("[", name, "]");
    }
    out += cat(out.empty() ? "" : " ", name);
  }
  return out;
}

ModelBuilder inputs() {
  ModelBuilder model(18);
  model.input("a", DType::kF32, {2, 3}).input("b", DType::kF32, {2, 3});
  model.input("row", DType::kF32, {3}).input("one", DType::kF32, {1});
  model.input("sums", DType::kS32, {2, 3});
  return model;
}

TEST(FuseExpressions, ChainsBecomeOne) {
  ModelBuilder model = inputs();
  model.node("Add", {"a", "b"}, {"s"}).node("Relu", {"s"}, {"r"});
  model.node("Mul", {"r", "row"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "[Add Relu Mul]");
}

TEST(FuseExpressions, ValuesReadTwiceStayInsideIfAllTheirReadersAre) {
  ModelBuilder model = inputs();
  model.node("Add", {"a", "b"}, {"s"}).node("HardSigmoid", {"s"}, {"h"});
  model.node("Mul", {"s", "h"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "[Add HardSigmoid Mul]");
}

TEST(FuseExpressions, ResultsThatOthersReadStay) {
  ModelBuilder model = inputs();
  model.node("Add", {"a", "b"}, {"s"}).node("Relu", {"s"}, {"r"});
  model.node("Exp", {"s"}, {"e"}).node("Neg", {"r"}, {"y"});
  model.output("y").output("e");
  EXPECT_EQ(operators_after(model), "Add Exp [Relu Neg]");
  ModelBuilder output = inputs();
  output.node("Add", {"a", "b"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y").output("s");
  EXPECT_EQ(operators_after(output), "Add Relu");
}

TEST(FuseExpressions, NothingIsComputedMoreOften) {
  ModelBuilder model = inputs();
  model.node("Abs", {"row"}, {"n"}).node("Relu", {"n"}, {"r"});
  model.node("Mul", {"a", "r"}, {"p"}).node("Neg", {"p"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "[Abs Relu] [Mul Neg]");
}

TEST(FuseExpressions, SingleElementsAreComputedOnce) {
  ModelBuilder model = inputs();
  model.initializer("w_scale", f32({1}, {0.5F})).node("Mul", {"one", "w_scale"}, {"scale"});
  model.node("Cast", {"sums"}, {"real"}, {{"to", std::int64_t{1}}});
  model.node("Mul", {"real", "scale"}, {"scaled"}).node("Add", {"scaled", "row"}, {"y"});
  model.output("y");
  EXPECT_EQ(operators_after(model), "[Mul Cast Mul Add]");
}

TEST(FuseExpressions, QuantizationEndsATree) {
  ModelBuilder model = inputs();
  model.initializer("scale", f32({}, {0.5F}));
  model.node("Add", {"a", "row"}, {"s"}).node("QuantizeLinear", {"s", "scale"}, {"q"});
  model.node("DequantizeLinear", {"q", "scale"}, {"d"}).node("Relu", {"d"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "[Add QuantizeLinear] [DequantizeLinear Relu]");
}

TEST(FuseExpressions, OtherOperatorsEndATree) {
  ModelBuilder model = inputs();
  model.node("Add", {"a", "b"}, {"s"}).node("Sigmoid", {"s"}, {"g"});
  model.node("Mod", {"g", "a"}, {"m"}, {{"fmod", std::int64_t{1}}});
  model.node("Mean", {"m", "b"}, {"n"}).node("Neg", {"n"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "Add Sigmoid Mod Mean Neg");
}

TEST(FuseExpressions, FindTheRangeOfWhatIsQuantizedDynamically) {
  ModelBuilder model = inputs();
  model.node("Add", {"a", "b"}, {"s"});
  model.node("DynamicQuantizeLinear", {"s"}, {"q", "scale", "zero"});
  model.output("q").output("scale").output("zero");
  EXPECT_EQ(operators_after(model), "[Add] QuantizeLinear");
  ModelBuilder input = inputs();
  input.node("DynamicQuantizeLinear", {"a"}, {"q", "scale", "zero"}).output("q").output("scale");
  EXPECT_EQ(operators_after(input), "DynamicQuantizeLinear");
}

// 8 bits in and out with BatchNormalization between, whose mean is a constant or not.
ModelBuilder normalized(const std::string& mean) {
  ModelBuilder model(18);
  model.input("q", DType::kU8, {1, 2, 3}).input("row", DType::kF32, {2});
  model.initializer("two", f32({2}, {2, 3})).initializer("scale", f32({}, {0.5F}));
  model.initializer("bytes", u8({2}, {2, 3}));
  if (mean == "unfolded") model.node("DequantizeLinear", {"bytes", "scale"}, {mean});
  model.node("MaxPool", {"q"}, {"p"}, {{"kernel_shape", Ints{1}}});
  model.node("DequantizeLinear", {"p", "scale"}, {"x"});
  model.node("BatchNormalization", {"x", "two", "two", mean, "two"}, {"n"});
  model.node("Relu", {"n"}, {"z"}).node("QuantizeLinear", {"z", "scale"}, {"y"}).output("y");
  return model;
}

TEST(FuseExpressions, ConstantStatisticsArePartOfAChain) {
  ModelBuilder constant = normalized("two");
  EXPECT_EQ(operators_after(constant),
            "MaxPool [DequantizeLinear BatchNormalization Relu QuantizeLinear]");
  ModelBuilder run_time = normalized("row");
  EXPECT_EQ(operators_after(run_time),
            "MaxPool [Mul Sub] Reshape [DequantizeLinear Mul Add Relu QuantizeLinear]");
  ModelBuilder unfolded = normalized("unfolded");
  EXPECT_EQ(operators_after(unfolded),
            "DequantizeLinear MaxPool DequantizeLinear BatchNormalization [Relu QuantizeLinear]");
}

TEST(FuseExpressions, IntegersStay) {
  ModelBuilder model = inputs();
  model.node("Add", {"sums", "sums"}, {"s"}).node("Neg", {"s"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "Add Neg");
}

TEST(FuseExpressions, OneOperatorStaysUnlessItHasNoVectorsOfItsOwn) {
  ModelBuilder model = inputs();
  model.node("Add", {"a", "b"}, {"y"}).output("y");
  EXPECT_EQ(operators_after(model), "Add");
  ModelBuilder cast = inputs();
  cast.node("Cast", {"sums"}, {"y"}, {{"to", std::int64_t{1}}}).output("y");
  EXPECT_EQ(operators_after(cast), "[Cast]");
}

}  // namespace
}  // namespace etch
