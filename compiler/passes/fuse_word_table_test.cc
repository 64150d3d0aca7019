// Functions of 16-bit tensors as tables, what they contain, and what stays float.
#include "compiler/passes/fuse_word_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "compiler/ops/table16/op.h"
#include "compiler/passes/fold.h"
#include "tests/support/qdq_model.h"

namespace etch {
namespace {

const Tensor kWordZero = Tensor::of<std::int16_t>({}, {-5});

// x, int16 [2, 3] with this scale, and what makes `y` of it, of scale 2^-14.
struct WordChain : QdqModel {
  std::string x;
  explicit WordChain(float scale = 0x1p-12F)
      : QdqModel(21), x(input("x", {2, 3}, scale, kWordZero)) {}
  // The operator that gives the result after the pass, with its table as input 1.
  std::optional<Graph> fused() {
    output("y", 0x1p-14F, Tensor::of<std::int16_t>({}, {3}));
    Sink sink;
    auto graph = fold(sink);
    if (!graph) return std::nullopt;
    fold_constants(*graph, FoldDequantize::kYes);
    fuse_word_table(*graph);
    return graph;
  }
};

std::int64_t entry(const Graph& graph, std::int64_t x) {
  return graph.value(graph.nodes.back().inputs.at(1)).constant->integer(x + 32768);
}

TEST(FuseWordTable, AFunctionIsThatOfTheRealNumbers) {
  WordChain chain;
  chain.model().node("Sigmoid", {chain.x}, {"y"});
  const auto graph = chain.fused();
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(graph->nodes[0].op_type, "Table16");
  for (const int x : {-32768, -5, 0, 4091, 20000, 32767}) {
    const double real = 1 / (1 + std::exp(-(x + 5) * 0x1p-12));
    EXPECT_EQ(entry(*graph, x), std::lrint(real * 0x1p14) + 3) << x;
  }
}

TEST(FuseWordTable, AChainWithScalarsIsOneTable) {
  WordChain chain;
  chain.model().initializer("three", f32({}, {3})).initializer("sixth", f32({1}, {0.125F}));
  chain.model().node("Add", {chain.x, "three"}, {"s"}).node("Mul", {"sixth", "s"}, {"m"});
  chain.model().node("Mul", {chain.x, "m"}, {"y"});
  const auto graph = chain.fused();
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(std::get<std::string>(graph->nodes[0].attributes.at("of")), "Add, Mul, Mul");
  const double x = 5005 * 0x1p-12;
  EXPECT_EQ(entry(*graph, 5000), std::lrint(x * (x + 3) / 8 * 0x1p14) + 3);
}

TEST(FuseWordTable, WhatIsNotFiniteOrNotOfOneTensorStaysFloat) {
  WordChain root;
  root.model().node("Log", {root.x}, {"y"});
  EXPECT_EQ(root.fused()->nodes.back().op_type, "QuantizeLinear");
  WordChain two;
  two.model().node("Sub", {two.x, two.input("z", {2, 3}, 1, kWordZero)}, {"y"});
  EXPECT_EQ(two.fused()->nodes.back().op_type, "QuantizeLinear");
  WordChain vector;
  vector.model().initializer("three", f32({3}, {1, 2, 3}));
  vector.model().node("Sub", {vector.x, "three"}, {"y"});
  EXPECT_EQ(vector.fused()->nodes.back().op_type, "QuantizeLinear");
}

TEST(FuseWordTable, ChainsWithoutEndStayFloat) {
  WordChain chain;
  std::string from = chain.x;
  for (int i = 0; i < 2000; ++i) {
    const std::string to = i == 1999 ? "y" : cat("t", i);
    chain.model().node("Neg", {from}, {to});
    from = to;
  }
  EXPECT_EQ(chain.fused()->nodes.back().op_type, "QuantizeLinear");
}

TEST(WordTables, AreSmallForSmoothFunctions) {
  std::vector<std::int32_t> results;
  results.reserve(kTable16Entries);
  for (int i = 0; i < kTable16Entries; ++i)
    results.push_back(
        static_cast<std::int32_t>(std::lrint(65535 / (1 + std::exp(4 - i / 8192.0)))));
  EXPECT_LT(table16_bytes(results), 1700);
  // With a piece for each step of the noise there is no gain over the whole table.
  for (int i = 0; i < kTable16Entries; ++i) results[static_cast<std::size_t>(i)] = i * 7919 % 65536;
  EXPECT_GT(table16_bytes(results), kMostTableBytes);
}

}  // namespace
}  // namespace etch
