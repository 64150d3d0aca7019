// What becomes a table, what a limit of a convolution, and what stays as it is.
#include "compiler/passes/fuse_table.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/ops/table/op.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/fold_qdq.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

// x uint8 [2,3] with scale 0.05 and zero point 100, dequantized as "f"; results of scale 0.02.
class Chain {
 public:
  explicit Chain(const Shape& shape = {2, 3}) : model_(13) {
    model_.opset(kMicrosoft, 1);
    model_.input("x", DType::kU8, {shape.begin(), shape.end()});
    quantization("xq", 0.05F, 100);
    quantization("yq", 0.02F, 30);
    model_.node("DequantizeLinear", {"x", "xq_scale", "xq_zero"}, {"f"});
  }
  void quantization(const std::string& name, float scale, std::uint8_t zero) {
    model_.initializer(name + "_scale", f32({}, {scale}));
    model_.initializer(name + "_zero", u8({}, {zero}));
  }
  void constant(const std::string& name, const Tensor& value) { model_.initializer(name, value); }
  ModelBuilder& node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::string& output) {
    return model_.node(op, inputs, {output});
  }
  // Quantizes `from` as the graph's output.
  void finish(const std::string& from) {
    model_.node("QuantizeLinear", {from, "yq_scale", "yq_zero"}, {from + "_q"});
    model_.output(from + "_q");
  }
  ModelBuilder& model() { return model_; }

  Graph fused() const {
    Sink sink;
    auto graph = load(model_, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    if (!graph) return {};
    fold_qdq(*graph, sink);
    fold_constants(*graph, FoldDequantize::kYes);
    fuse_table(*graph, sink);
    verify(*graph, Resolved::kYes);
    return *graph;
  }
  // Operator types after the pass, tables as "Table(what)".
  std::string operators() const {
    std::string out;
    for (const Node& node : fused().nodes) {
      const bool table = node.op_type == "Table";
      out += cat(out.empty() ? "" : " ",
                 table ? cat("Table(", params_of<Table>(node).of, ")") : node.op_type);
    }
    return out;
  }

 private:
  ModelBuilder model_;
};

TEST(FuseTable, AChainOfFloatOperatorsIsOneTable) {
  Chain chain;
  chain.constant("three", f32({1, 1}, {3}));
  chain.node("Add", {"f", "three"}, "a");
  chain.node("Relu", {"a"}, "b");
  chain.node("LeakyRelu", {"b"}, "c");
  chain.finish("c");
  EXPECT_EQ(chain.operators(), "Table(Add, Relu, LeakyRelu)");
}

TEST(FuseTable, PathsThatMeetAgainAreOneFunction) {
  Chain chain;
  chain.node("Sigmoid", {"f"}, "s");
  chain.node("Mul", {"f", "s"}, "y");
  chain.finish("y");
  EXPECT_EQ(chain.operators(), "Table(Sigmoid, Mul)");
}

TEST(FuseTable, TheTableHoldsWhatTheOperatorsGive) {
  Chain chain({256});
  chain.constant("half", f32({}, {0.5F}));
  chain.node("Sigmoid", {"f"}, "s");
  chain.node("Sub", {"s", "half"}, "d");
  chain.node("Div", {"d", "half"}, "y");
  chain.finish("y");
  Tensor x(DType::kU8, {256});
  for (std::size_t i = 0; i < 256; ++i) x.mutable_bytes()[i] = static_cast<std::byte>(i);
  Sink sink;
  const auto before = load(chain.model(), sink);
  ASSERT_TRUE(before);
  const Graph after = chain.fused();
  EXPECT_EQ(after.nodes.size(), 1U);
  EXPECT_EQ(evaluate(after, {x}), evaluate(*before, {x}));
}

TEST(FuseTable, AChangeOfScaleIsATable) {
  Chain chain;
  chain.finish("f");
  EXPECT_EQ(chain.operators(), "Table(requantization)");
}

TEST(FuseTable, QuantizedOperatorsJoin) {
  Chain chain;
  chain.quantization("sq", 1.0F / 256, 0);
  chain.model().node("QLinearSigmoid", {"x", "xq_scale", "xq_zero", "sq_scale", "sq_zero"}, {"s"},
                     {}, kMicrosoft);
  chain.model().node(
      "QLinearMul", {"x", "xq_scale", "xq_zero", "s", "sq_scale", "sq_zero", "yq_scale", "yq_zero"},
      {"y"}, {}, kMicrosoft);
  chain.model().output("y");
  EXPECT_EQ(chain.operators(), "Table(QLinearSigmoid, QLinearMul)");
}

// With an innermost axis of 1 both sides of the sum look like scalars to QLinearAdd, and the roles
// of its operands are exchanged.
TEST(FuseTable, SumsKeepTheRolesOfTheirOperands) {
  for (const Shape& shape : {Shape{1, 256, 1, 1}, Shape{1, 1, 1, 256}}) {
    Chain chain(shape);
    chain.constant("k", u8({1}, {77}));
    chain.quantization("kq", 1234.5678F, 77);  // large products cancel: their order shows
    chain.quantization("zq", 0.0237F, 30);
    chain.model().node(
        "QLinearAdd",
        {"x", "xq_scale", "xq_zero", "k", "kq_scale", "kq_zero", "zq_scale", "zq_zero"}, {"y"}, {},
        kMicrosoft);
    chain.model().output("y");
    Tensor x(DType::kU8, shape);
    for (std::size_t i = 0; i < 256; ++i) x.mutable_bytes()[i] = static_cast<std::byte>(i);
    Sink sink;
    const auto before = load(chain.model(), sink);
    ASSERT_TRUE(before);
    const Graph after = chain.fused();
    EXPECT_EQ(chain.operators(), "Table(QLinearAdd)");
    EXPECT_EQ(evaluate(after, {x}), evaluate(*before, {x}));
  }
}

TEST(FuseTable, ValuesThatAreUsedElsewhereStay) {
  Chain chain;
  chain.node("Relu", {"f"}, "r");
  chain.finish("r");
  chain.node("LeakyRelu", {"r"}, "l");
  chain.finish("l");
  chain.model().output("r");
  EXPECT_EQ(chain.operators(), "DequantizeLinear Relu Table(Relu) Table(Relu, LeakyRelu)");
}

TEST(FuseTable, TwoTensorsAreNoFunctionOfOne) {
  Chain chain;
  chain.model().input("w", DType::kU8, {2, 3});
  chain.node("DequantizeLinear", {"w", "xq_scale", "xq_zero"}, "g");
  chain.node("Sub", {"f", "g"}, "y");
  chain.finish("y");
  EXPECT_EQ(chain.operators(), "DequantizeLinear DequantizeLinear Sub QuantizeLinear");
}

TEST(FuseTable, ConstantsPerChannelAndBroadcastsStay) {
  Chain channels;
  channels.constant("k", f32({3}, {1, 2, 3}));
  channels.node("Sub", {"f", "k"}, "y");
  channels.finish("y");
  EXPECT_EQ(channels.operators(), "DequantizeLinear Sub QuantizeLinear");
  Chain rows;
  rows.constant("k", f32({2, 1}, {1, 2}));
  rows.node("Sub", {"f", "k"}, "y");
  rows.finish("y");
  EXPECT_EQ(rows.operators(), "DequantizeLinear Sub QuantizeLinear");
  Chain broadcast;
  broadcast.constant("k", f32({1, 1, 1}, {1}));
  broadcast.node("Sub", {"f", "k"}, "y");
  broadcast.finish("y");
  EXPECT_EQ(broadcast.operators(), "DequantizeLinear Sub QuantizeLinear");
}

TEST(FuseTable, ParametersKnownAtRunTimeStay) {
  Chain chain;
  chain.model().input("late", DType::kF32, {});
  chain.node("Relu", {"f"}, "r");
  chain.model().node("QuantizeLinear", {"r", "late", "yq_zero"}, {"y"}).output("y");
  EXPECT_EQ(chain.operators(), "DequantizeLinear Relu QuantizeLinear");
}

// A reversal keeps the shape, and commutes with reversals of its input: no function of one element.
TEST(FuseTable, AReversingSliceIsNotATable) {
  for (const std::int64_t axis : {0, 1}) {
    Chain chain({2, 3});
    chain.constant("last", s64({1}, {-1}));
    chain.constant("end", s64({1}, {INT64_MIN}));
    chain.constant("axis", s64({1}, {axis}));
    chain.model().node("Slice", {"x", "last", "end", "axis", "last"}, {"y"}).output("y");
    EXPECT_EQ(chain.operators(), "Slice") << axis;
  }
}

TEST(FuseTable, AReversalBetweenFunctionsStaysBetweenTables) {
  Chain chain;
  chain.constant("last", s64({1}, {-1}));
  chain.constant("end", s64({1}, {INT64_MIN}));
  chain.node("Sigmoid", {"f"}, "a");
  chain.model().node("QuantizeLinear", {"a", "yq_scale", "yq_zero"}, {"b"});
  chain.model().node("Slice", {"b", "last", "end", "last", "last"}, {"c"});
  chain.node("DequantizeLinear", {"c", "yq_scale", "yq_zero"}, "d");
  chain.node("Tanh", {"d"}, "e");
  chain.finish("e");
  EXPECT_EQ(chain.operators(), "Table(QLinearSigmoid) Slice Table(Tanh)");
}

// What an operator declares is also tried out; a wrong declaration is a fault of the compiler.
TEST(FuseTable, AWrongDeclarationEndsTheCompiler) {
  Chain chain({2, 3});
  chain.constant("last", s64({1}, {-1}));
  chain.constant("end", s64({1}, {INT64_MIN}));
  chain.constant("axis", s64({1}, {0}));
  chain.model().node("Slice", {"x", "last", "end", "axis", "last"}, {"y"}).output("y");
  Sink sink;
  auto graph = load(chain.model(), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  OpDef wrong = *graph->nodes.back().op;
  wrong.elements = pointwise_rule;
  graph->nodes.back().op = &wrong;
  EXPECT_DEATH(fuse_table(*graph, sink), "internal error");
}

TEST(FuseTable, OperatorsThatMixElementsAreNoTable) {
  Chain normalized({1, 1, 2, 3});
  normalized.constant("one", f32({1}, {1}));
  normalized.node("InstanceNormalization", {"f", "one", "one"}, "y");
  normalized.finish("y");
  EXPECT_EQ(normalized.operators(), "DequantizeLinear InstanceNormalization QuantizeLinear");
  Chain neighbours({1, 5, 1, 1});
  neighbours.model().node("LRN", {"f"}, {"y"}, {{"size", std::int64_t{3}}});
  neighbours.finish("y");
  EXPECT_EQ(neighbours.operators(), "DequantizeLinear LRN QuantizeLinear");
}

// A convolution 1x1 of x [1,1,2,3], quantized with scale 0.02 and zero point 30.
Chain convolution() {
  Chain chain({1, 1, 2, 3});
  chain.constant("w", u8({1, 1, 1, 1}, {2}));
  chain.model().node(
      "QLinearConv",
      {"x", "xq_scale", "xq_zero", "w", "xq_scale", "xq_zero", "yq_scale", "yq_zero"}, {"c"});
  chain.node("DequantizeLinear", {"c", "yq_scale", "yq_zero"}, "g");
  return chain;
}

TEST(FuseTable, ALimitBecomesPartOfTheConvolution) {
  Chain chain = convolution();
  chain.node("Relu", {"g"}, "r");
  chain.finish("r");
  const Graph graph = chain.fused();
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].domain, "org.etch");
  EXPECT_EQ(std::get<std::int64_t>(graph.nodes[0].attributes.at("clamp_low")), 30);
  EXPECT_EQ(std::get<std::int64_t>(graph.nodes[0].attributes.at("clamp_high")), 255);
}

// A product of x [2,3] and constant weights, quantized with scale 0.02 and zero point 30.
Chain product(const std::string& op) {
  Chain chain({2, 3});
  chain.constant("w", u8({3, 1}, {2, 200, 7}));
  chain.model().opset("com.microsoft", 1);
  std::vector<std::string> inputs{"x", "xq_scale", "xq_zero", "w", "xq_scale", "xq_zero"};
  if (op == "QGemm") inputs.emplace_back("");
  inputs.insert(inputs.end(), {"yq_scale", "yq_zero"});
  chain.model().node(op, inputs, {"c"}, {}, op == "QGemm" ? "com.microsoft" : "");
  chain.node("DequantizeLinear", {"c", "yq_scale", "yq_zero"}, "g");
  return chain;
}

TEST(FuseTable, ALimitBecomesPartOfAProduct) {
  for (const char* op : {"QGemm", "QLinearMatMul"}) {
    Chain chain = product(op);
    chain.node("Relu", {"g"}, "r");
    chain.finish("r");
    const Graph graph = chain.fused();
    ASSERT_EQ(graph.nodes.size(), 1U) << op;
    EXPECT_EQ(graph.nodes[0].domain, "org.etch");
    EXPECT_EQ(std::get<std::int64_t>(graph.nodes[0].attributes.at("clamp_low")), 30);
    EXPECT_EQ(std::get<std::int64_t>(graph.nodes[0].attributes.at("clamp_high")), 255);
  }
}

TEST(FuseTable, ALimitAfterAnotherOperatorIsATable) {
  Chain chain({1, 1, 2, 3});
  chain.model().node("MaxPool", {"x"}, {"p"}, {{"kernel_shape", Ints{1, 1}}});
  chain.node("DequantizeLinear", {"p", "yq_scale", "yq_zero"}, "g");
  chain.node("Relu", {"g"}, "r");
  chain.finish("r");
  EXPECT_EQ(chain.operators(), "MaxPool Table(Relu)");
}

TEST(FuseTable, ALimitOfAnInputIsATable) {
  Chain chain;
  chain.constant("low", f32({}, {0}));
  chain.constant("high", f32({}, {3}));
  chain.node("Max", {"f", "low"}, "m");
  chain.node("Min", {"m", "high"}, "n");
  chain.model().node("QuantizeLinear", {"n", "xq_scale", "xq_zero"}, {"y"}).output("y");
  EXPECT_EQ(chain.operators(), "Table(Max, Min)");
}

TEST(FuseTable, AConvolutionThatIsUsedElsewhereKeepsItsResults) {
  Chain chain = convolution();
  chain.node("Relu", {"g"}, "r");
  chain.finish("r");
  chain.model().output("c");
  EXPECT_EQ(chain.operators(), "QLinearConv Table(Relu)");
}

TEST(FuseTable, ATableThatChangesNothingVanishes) {
  Chain chain = convolution();
  chain.constant("low", f32({}, {-100}));
  chain.node("Max", {"g", "low"}, "m");
  chain.model().node("QuantizeLinear", {"m", "yq_scale", "yq_zero"}, {"q"});
  chain.model().node("MaxPool", {"q"}, {"y"}, {{"kernel_shape", Ints{1, 1}}}).output("y");
  EXPECT_EQ(chain.operators(), "QLinearConv MaxPool");
}

}  // namespace
}  // namespace etch
