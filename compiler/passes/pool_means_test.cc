// Means over all positions that become integer pools with --qdq all.
#include "compiler/passes/pool_means.h"

#include <gtest/gtest.h>

#include "tests/support/qdq_model.h"

namespace etch {
namespace {
using Ints = std::vector<std::int64_t>;

// x [1, 3, 4, 5] -> DQ -> ReduceMean -> Q -> y; operators after folding.
std::string operators_of(const Ints& axes, std::int64_t keep, QdqGroups groups) {
  QdqModel model;
  const std::string x = model.input("x", {1, 3, 4, 5}, 0.5F, kZeroS8);
  model.model().node("ReduceMean", {x}, {"m"}, {{"axes", axes}, {"keepdims", keep}});
  model.output("m", 0.25F, kZeroS8);
  Sink sink;
  auto graph = load(model.model(), sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  if (!graph) return {};
  fold_qdq(*graph, sink, groups);
  std::string out;
  for (const Node& node : graph->nodes) out += cat(out.empty() ? "" : " ", node.op_type);
  return out;
}

constexpr const char* kFloat = "DequantizeLinear ReduceMean QuantizeLinear";

TEST(PoolMeans, StayFloatAsInOnnxRuntime) {
  EXPECT_EQ(operators_of({2, 3}, 1, QdqGroups::kOfOnnxRuntime), kFloat);
}

TEST(PoolMeans, OfAllPositionsArePools) {
  EXPECT_EQ(operators_of({2, 3}, 1, QdqGroups::kAll), "QLinearGlobalAveragePool");
  EXPECT_EQ(operators_of({-1, -2}, 1, QdqGroups::kAll), "QLinearGlobalAveragePool");
}

TEST(PoolMeans, WithoutTheReducedAxesAreFlattened) {
  EXPECT_EQ(operators_of({2, 3}, 0, QdqGroups::kAll), "QLinearGlobalAveragePool Flatten");
}

TEST(PoolMeans, OfOtherAxesStayFloat) {
  for (const Ints& axes : {Ints{1, 2, 3}, Ints{2}, Ints{3}, Ints{1}})
    EXPECT_EQ(operators_of(axes, 1, QdqGroups::kAll), kFloat);
}

TEST(PoolMeans, ThatAreReadAsFloatStay) {
  QdqModel model;
  const std::string x = model.input("x", {1, 3, 4, 5}, 0.5F, kZeroS8);
  model.model().node("ReduceMean", {x}, {"m"}, {{"axes", Ints{2, 3}}});
  model.model().output("m");
  Sink sink;
  auto graph = load(model.model(), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(pool_means(*graph), 0);
}

}  // namespace
}  // namespace etch
