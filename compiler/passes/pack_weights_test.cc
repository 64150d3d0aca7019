// Which products keep their weights in few bits, and when their rows are quantized too.
#include "compiler/passes/pack_weights.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/matmul_nbits/op.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// What is before and after a product.
struct Around {
  std::vector<std::string> after = {};  // operators of one input
  bool a_is_dequantized = false;
  std::int64_t axis = 1;  // of scales that are not of blocks
  Shape add = {};         // added to the product; empty: nothing
};

void add_left(ModelBuilder& model, bool dequantized) {
  model.input(dequantized ? "qa" : "a", dequantized ? DType::kU8 : DType::kF32, {1, 64});
  if (dequantized) model.node("DequantizeLinear", {"qa", "one"}, {"a"});
}

void add_weights(ModelBuilder& model, const std::vector<int>& values, std::int64_t block,
                 std::int64_t axis) {
  Tensor q(DType::kS8, {64, 2});
  for (std::size_t i = 0; i < 128; ++i)
    q.as<std::int8_t>()[i] = static_cast<std::int8_t>(values[i % values.size()]);
  model.initializer("q", q);
  const bool blocks = block > 0;
  const std::int64_t count = blocks ? 64 / block : 1;
  model.initializer("s", Tensor(DType::kF32, blocks ? Shape{count, 2} : Shape{2}));
  model.node("DequantizeLinear", {"q", "s"}, {"b"},
             {{"axis", std::int64_t{blocks ? 0 : axis}}, {"block_size", block}});
}

// a [1, 64] times int8 weights [64, 2] with these values by turns, in blocks.
Graph packed(const std::vector<int>& values, std::int64_t block, BlockedProducts blocked,
             const Around& around = {}) {
  ModelBuilder model(21);
  model.initializer("one", f32({}, {1}));
  add_left(model, around.a_is_dequantized);
  add_weights(model, values, block, around.axis);
  model.node("MatMul", {"a", "b"}, {"y"});
  std::string last = "y";
  if (!around.add.empty()) {
    model.initializer("c", Tensor(DType::kF32, around.add));
    model.node("Add", {"y", "c"}, {"sum"});
    last = "sum";
  }
  for (const std::string& each : around.after) {
    const std::string next = cat(last, "_", each);
    const bool scaled = each == "QuantizeLinear";
    model.node(each, scaled ? std::vector<std::string>{last, "one"} : std::vector{last}, {next});
    last = next;
  }
  model.output(last);
  Sink sink;
  Graph graph = load(model, sink).value();
  EXPECT_FALSE(sink.has_errors()) << errors_of(sink);
  pack_weights(graph, blocked);
  return graph;
}

const MatMulNBits* packed_product(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op_type == "MatMulNBits") return &params_of<MatMulNBits>(node);
  }
  return nullptr;
}

constexpr auto kDefault = BlockedProducts::kAsOnnxRuntime;

TEST(PackWeights, ValuesDecideHowManyBitsAreKept) {
  EXPECT_EQ(params_of<MatMulNBits>(packed({-8, 7}, 0, kDefault).nodes.back()).bits, 4);
  EXPECT_EQ(params_of<MatMulNBits>(packed({-2, 1}, 0, kDefault).nodes.back()).bits, 2);
  EXPECT_EQ(params_of<MatMulNBits>(packed({-9, 7}, 32, kDefault).nodes.back()).bits, 8);
  EXPECT_EQ(params_of<MatMulNBits>(packed({-9, 7}, 0, kDefault).nodes.back()).bits, 8);
  EXPECT_EQ(packed({-9, 7}, 0, BlockedProducts::kExact).nodes.back().op_type, "MatMul");
}

TEST(PackWeights, ZeroPointsInTheMiddleAreLeftOut) {
  EXPECT_EQ(packed({-8, 7}, 0, kDefault).nodes.back().inputs.size(), 3U);
  EXPECT_EQ(packed({0, 15}, 0, kDefault).nodes.back().inputs.size(), 4U);
}

TEST(PackWeights, RowsAreQuantizedWhereOnnxRuntimeDoes) {
  const auto quantizes = [](std::int64_t block, BlockedProducts blocked,
                            const Around& around = {}) {
    return packed_product(packed({-8, 7}, block, blocked, around))->quantizes_a;
  };
  EXPECT_TRUE(quantizes(16, kDefault));
  EXPECT_FALSE(quantizes(8, kDefault));
  EXPECT_TRUE(quantizes(0, kDefault));
  EXPECT_FALSE(quantizes(0, kDefault, {.axis = -1}));
  EXPECT_FALSE(quantizes(16, BlockedProducts::kExact));
  EXPECT_FALSE(quantizes(0, BlockedProducts::kExact));
}

TEST(PackWeights, ScalesOfColumnsAreInBlocksOf32WhereRowsAreQuantized) {
  EXPECT_EQ(packed_product(packed({-8, 7}, 0, kDefault))->block, 32);
  EXPECT_EQ(packed_product(packed({-8, 7}, 0, BlockedProducts::kExact))->block, 64);
}

TEST(PackWeights, WhatIsAroundAProductDecidesWhetherItsRowsAreQuantized) {
  const auto quantizes = [](const Around& around) {
    return packed_product(packed({-8, 7}, 16, kDefault, around))->quantizes_a;
  };
  EXPECT_TRUE(quantizes({.after = {"Tanh"}}));
  EXPECT_TRUE(quantizes({.after = {"Relu"}}));  // an output of the network
  EXPECT_FALSE(quantizes({.after = {"Relu", "Tanh"}}));
  EXPECT_FALSE(quantizes({.after = {"QuantizeLinear"}}));
  EXPECT_FALSE(quantizes({.a_is_dequantized = true}));
}

TEST(PackWeights, ASumWithOneValuePerColumnBelongsToTheProduct) {
  const auto quantizes = [](const Around& around) {
    return packed_product(packed({-8, 7}, 16, kDefault, around))->quantizes_a;
  };
  EXPECT_TRUE(quantizes({.add = {2}}));
  EXPECT_FALSE(quantizes({.after = {"Relu", "Tanh"}, .add = {2}}));
  EXPECT_FALSE(quantizes({.add = {1, 2}}));
  EXPECT_TRUE(quantizes({.after = {"Relu", "Tanh"}, .add = {1}}));
}

}  // namespace
}  // namespace etch
