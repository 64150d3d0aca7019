// Which products keep their weights in few bits, and when their rows are quantized too.
#include "compiler/passes/pack_weights.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/matmul_nbits/op.h"
#include "compiler/passes/fold_qdq.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// a [1, 64] times int8 weights [64, 2] with these values by turns, in blocks.
Graph packed(const std::vector<int>& values, std::int64_t block, BlockedProducts blocked) {
  ModelBuilder model(21);
  model.input("a", DType::kF32, {1, 64});
  Tensor q(DType::kS8, {64, 2});
  for (std::size_t i = 0; i < 128; ++i)
    q.as<std::int8_t>()[i] = static_cast<std::int8_t>(values[i % values.size()]);
  model.initializer("q", q);
  const bool blocks = block > 0;
  const std::int64_t count = blocks ? 64 / block : 1;
  model.initializer("s", Tensor(DType::kF32, blocks ? Shape{count, 2} : Shape{2}));
  model.node("DequantizeLinear", {"q", "s"}, {"b"},
             {{"axis", std::int64_t{blocks ? 0 : 1}}, {"block_size", block}});
  model.node("MatMul", {"a", "b"}, {"y"}).output("y");
  Sink sink;
  Graph graph = load(model, sink).value();
  EXPECT_FALSE(sink.has_errors()) << errors_of(sink);
  pack_weights(graph, blocked);
  return graph;
}

constexpr auto kDefault = BlockedProducts::kAsOnnxRuntime;

TEST(PackWeights, ValuesDecideHowManyBitsAreKept) {
  EXPECT_EQ(params_of<MatMulNBits>(packed({-8, 7}, 0, kDefault).nodes.back()).bits, 4);
  EXPECT_EQ(params_of<MatMulNBits>(packed({-2, 1}, 0, kDefault).nodes.back()).bits, 2);
  EXPECT_EQ(params_of<MatMulNBits>(packed({-9, 7}, 32, kDefault).nodes.back()).bits, 8);
  EXPECT_EQ(packed({-9, 7}, 0, kDefault).nodes.back().op_type, "MatMul");
}

TEST(PackWeights, ZeroPointsInTheMiddleAreLeftOut) {
  EXPECT_EQ(packed({-8, 7}, 0, kDefault).nodes.back().inputs.size(), 3U);
  EXPECT_EQ(packed({0, 15}, 0, kDefault).nodes.back().inputs.size(), 4U);
}

TEST(PackWeights, RowsAreQuantizedInBlocksOfAPowerOfTwo) {
  const auto quantizes = [](std::int64_t block, BlockedProducts blocked) {
    return params_of<MatMulNBits>(packed({-8, 7}, block, blocked).nodes.back()).quantizes_a;
  };
  EXPECT_TRUE(quantizes(16, kDefault));
  EXPECT_FALSE(quantizes(8, kDefault));
  EXPECT_FALSE(quantizes(0, kDefault));
  EXPECT_FALSE(quantizes(16, BlockedProducts::kExact));
}

// Are the rows of a product in blocks of 16 quantized whose weights, of scales of this type, a Cast
// makes float32?
bool quantizes_after_cast(DType scales) {
  ModelBuilder model(21);
  model.input("a", DType::kF32, {1, 64});
  model.initializer("q", Tensor(DType::kS8, {64, 2})).initializer("s", Tensor(scales, {4, 2}));
  model.node("DequantizeLinear", {"q", "s"}, {"h"},
             {{"axis", std::int64_t{0}}, {"block_size", std::int64_t{16}}});
  model.node("Cast", {"h"}, {"b"}, {{"to", std::int64_t{1}}});
  model.node("MatMul", {"a", "b"}, {"y"}).output("y");
  Sink sink;
  Graph graph = load(model, sink).value();
  EXPECT_FALSE(sink.has_errors()) << errors_of(sink);
  fold_qdq(graph, sink);
  pack_weights(graph, kDefault);
  EXPECT_EQ(graph.nodes.back().op_type, "MatMulNBits");
  return params_of<MatMulNBits>(graph.nodes.back()).quantizes_a;
}

// As ONNX Runtime 1.32, which does not look through the Cast, but removes one that changes nothing.
TEST(PackWeights, ACastOfFloat16WeightsKeepsRowsFloat) {
  EXPECT_FALSE(quantizes_after_cast(DType::kF16));
  EXPECT_TRUE(quantizes_after_cast(DType::kF32));
}

using Steps = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Are the rows of a product in blocks of 16 quantized if these nodes follow it? The product of a
// with `shape` is "p", node i makes "ni", "c" is a constant of `other`; the last one is an output.
bool quantizes_before(const Steps& steps, const std::vector<Dim>& shape, const Shape& other = {2}) {
  ModelBuilder model(21);
  model.input("a", DType::kF32, shape);
  model.initializer("q", Tensor(DType::kS8, {64, 2}));
  model.initializer("s", Tensor(DType::kF32, {4, 2}));
  model.initializer("c", Tensor(DType::kF32, other));
  model.node("DequantizeLinear", {"q", "s"}, {"b"},
             {{"axis", std::int64_t{0}}, {"block_size", std::int64_t{16}}});
  model.node("MatMul", {"a", "b"}, {"p"});
  for (std::size_t i = 0; i < steps.size(); ++i)
    model.node(steps[i].first, steps[i].second, {cat("n", i)});
  model.output(cat("n", steps.size() - 1));
  Sink sink;
  Graph graph = load(model, sink).value();
  EXPECT_FALSE(sink.has_errors()) << errors_of(sink);
  pack_weights(graph, kDefault);
  for (const Node& node : graph.nodes)
    if (node.op_type == "MatMulNBits") return params_of<MatMulNBits>(node).quantizes_a;
  ADD_FAILURE() << "no MatMulNBits";
  return false;
}

TEST(PackWeights, ALimitBeforeAnotherNodeKeepsRowsFloat) {
  EXPECT_FALSE(quantizes_before({{"Relu", {"p"}}, {"Exp", {"n0"}}}, {3, 64}));
  EXPECT_FALSE(quantizes_before({{"Clip", {"p"}}, {"Exp", {"n0"}}}, {1, 3, 64}));
  EXPECT_TRUE(quantizes_before({{"Tanh", {"p"}}, {"Exp", {"n0"}}}, {3, 64}));
  EXPECT_TRUE(quantizes_before({{"Relu", {"p"}}}, {3, 64}));
  EXPECT_TRUE(quantizes_before({{"Relu", {"p"}}, {"Mul", {"n0", "n0"}}}, {3, 64}));
  EXPECT_TRUE(quantizes_before({{"Relu", {"p"}}, {"Add", {"n0", "p"}}}, {3, 64}));
}

TEST(PackWeights, ALimitAfterTheBiasOfAMatrixKeepsRowsFloat) {
  const Steps steps = {{"Add", {"p", "c"}}, {"Relu", {"n0"}}, {"Exp", {"n1"}}};
  EXPECT_FALSE(quantizes_before(steps, {3, 64}, {2}));
  EXPECT_TRUE(quantizes_before(steps, {3, 64}, {1}));
  EXPECT_TRUE(quantizes_before(steps, {1, 3, 64}, {2}));
}

TEST(PackWeights, ASumWithAMatrixKeepsRowsFloat) {
  EXPECT_TRUE(quantizes_before({{"Add", {"p", "c"}}}, {3, 64}, {2}));
  EXPECT_FALSE(quantizes_before({{"Add", {"p", "c"}}}, {3, 64}, {1, 2}));
  EXPECT_FALSE(quantizes_before({{"Add", {"p", "c"}}}, {3, 64}, {3, 1}));
  EXPECT_FALSE(quantizes_before({{"Add", {"c", "p"}}}, {3, 64}, {3, 2}));
  EXPECT_TRUE(quantizes_before({{"Add", {"p", "c"}}}, {3, 64}, {1, 1}));
  EXPECT_TRUE(quantizes_before({{"Add", {"p", "c"}}}, {1, 3, 64}, {1, 3, 2}));
  EXPECT_TRUE(quantizes_before({{"Add", {"p", "c"}}, {"Mul", {"n0", "p"}}}, {3, 64}, {3, 2}));
}

// Which of the products in blocks have quantized rows?
std::vector<bool> quantized_products(const ModelBuilder& model) {
  Sink sink;
  Graph graph = load(model, sink).value();
  EXPECT_FALSE(sink.has_errors()) << errors_of(sink);
  pack_weights(graph, kDefault);
  std::vector<bool> quantized;
  for (const Node& node : graph.nodes)
    if (node.op_type == "MatMulNBits")
      quantized.push_back(params_of<MatMulNBits>(node).quantizes_a);
  return quantized;
}

void add_weights(ModelBuilder& model, const std::string& name) {
  model.initializer("q" + name, Tensor(DType::kS8, {64, 2}));
  model.initializer("s" + name, Tensor(DType::kF32, {4, 2}));
  model.node("DequantizeLinear", {"q" + name, "s" + name}, {name},
             {{"axis", std::int64_t{0}}, {"block_size", std::int64_t{16}}});
}

TEST(PackWeights, OfTwoProductsThatAreAddedTheLastKeepsItsRowsFloat) {
  for (const bool turned : {false, true}) {
    ModelBuilder model(21);
    model.input("a", DType::kF32, {3, 64});
    add_weights(model, "b");
    add_weights(model, "c");
    model.node("MatMul", {"a", "b"}, {"p"}).node("MatMul", {"a", "c"}, {"r"});
    model.node("Add", {turned ? "r" : "p", turned ? "p" : "r"}, {"y"}).output("y");
    EXPECT_EQ(quantized_products(model), (std::vector<bool>{true, false})) << turned;
  }
}

TEST(PackWeights, AProductWithFloatWeightsIsAddedAsTheOthersAre) {
  for (const bool first : {false, true}) {
    ModelBuilder model(21);
    model.input("a", DType::kF32, {3, 64}).initializer("f", Tensor(DType::kF32, {64, 2}));
    add_weights(model, "b");
    model.node("MatMul", {"a", first ? "b" : "f"}, {"p"});
    model.node("MatMul", {"a", first ? "f" : "b"}, {"r"});
    model.node("Add", {"p", "r"}, {"y"}).output("y");
    EXPECT_EQ(quantized_products(model), std::vector<bool>{first});
  }
}

TEST(PackWeights, WeightsThatOthersReadKeepRowsFloat) {
  ModelBuilder model(21);
  model.input("a", DType::kF32, {3, 64});
  add_weights(model, "b");
  model.node("MatMul", {"a", "b"}, {"p"}).output("p");
  model.node("Exp", {"a"}, {"e"}).node("MatMul", {"e", "b"}, {"r"}).output("r");
  EXPECT_EQ(quantized_products(model), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace etch
