// Which products keep their weights in few bits, and when their rows are quantized too.
#include "compiler/passes/pack_weights.h"

#include <gtest/gtest.h>

#include "compiler/ops/matmul_nbits/op.h"
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

}  // namespace
}  // namespace etch
