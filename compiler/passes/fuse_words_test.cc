// Which QDQ groups of 16 bits become integer operators, and why others do not.
#include "compiler/passes/fuse_words.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/qdq_model.h"

namespace etch {
namespace {

const Tensor kZero = Tensor::of<std::int16_t>({}, {0});

// The last node of `qdq` after the passes; for one that stays QuantizeLinear why its group did.
std::string outcome(const QdqModel& qdq) {
  Sink sink;
  auto graph = qdq.fold(sink);
  if (!graph) return errors_of(sink);
  graph->fusions.finish(*graph);
  if (graph->nodes.back().op_type != "QuantizeLinear") return graph->nodes.back().op_type;
  for (const FusionRecord& record : graph->fusions.records()) {
    if (record.outcome == FusionRecord::Outcome::kMissed) return record.what;
  }
  return "";
}

// x, a dequantized tensor [1, 4, 6] or as `shape` says.
struct Group : QdqModel {
  std::string x;
  explicit Group(const Shape& shape = {1, 4, 6})
      : QdqModel(21), x(input("x", shape, 0.5F, kZero)) {}

  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::map<std::string, Attribute>& attributes = {},
                   const Tensor& zero = kZero, float scale = 0.25F) {
    model().node(op, inputs, {"y"}, attributes);
    output("y", scale, zero);
    return outcome(*this);
  }
  std::string matrix(const Shape& shape, float scale = 0.25F) {
    return weights("w", Tensor(DType::kS8, shape), f32({}, {scale}), 0, s8({}, {0}));
  }
};

TEST(FuseWords, ProductsWithAMatrixAreOneOperator) {
  Group product;
  EXPECT_EQ(product.node("MatMul", {product.x, product.matrix({6, 3})}), "QLinearMatMul16");
  Group gemm({2, 6});
  EXPECT_EQ(gemm.node("Gemm", {gemm.x, gemm.matrix({6, 3})}), "QLinearMatMul16");
  Group turned({2, 6});
  EXPECT_EQ(turned.node("Gemm", {turned.x, turned.matrix({3, 6})}, {{"transB", std::int64_t{1}}}),
            "QLinearMatMul16");
}

TEST(FuseWords, AGemmWithAnotherFactorStaysFloat) {
  const std::string why = "alpha or beta is not 1, or A is transposed";
  Group alpha({2, 6});
  EXPECT_EQ(alpha.node("Gemm", {alpha.x, alpha.matrix({6, 3})}, {{"alpha", 0.5F}}), why);
  Group transposed({6, 2});
  EXPECT_EQ(transposed.node("Gemm", {transposed.x, transposed.matrix({6, 3})},
                            {{"transA", std::int64_t{1}}}),
            why);
}

TEST(FuseWords, TransposedConvolutionsRepeatTheirScalesPerGroup) {
  Group group;
  const std::string w = group.weights("w", Tensor(DType::kS8, {4, 3, 2}), f32({3}, {1, 2, 3}), 1);
  group.model().node("ConvTranspose", {group.x, w}, {"y"}, {{"group", std::int64_t{2}}});
  group.output("y", 0.25F, kZero);
  Sink sink;
  const auto graph = group.fold(sink);
  ASSERT_TRUE(graph);
  const Node& node = graph->nodes.back();
  EXPECT_EQ(node.op_type, "QLinearConvTranspose16");
  EXPECT_EQ(*graph->value(node.inputs[4]).constant, f32({6}, {1, 2, 3, 1, 2, 3}));
}

TEST(FuseWords, SumsLimitsAndOtherScalesAreOneOperator) {
  Group sum;
  EXPECT_EQ(sum.node("Add", {sum.x, sum.input("z", {1, 4, 6}, 2, kZero)}), "QLinearSum16");
  Group product;
  EXPECT_EQ(product.node("Mul", {product.x, product.input("z", {1, 4, 1}, 2, kZero)}),
            "QLinearMul16");
  Group limit;
  EXPECT_EQ(limit.node("Relu", {limit.x}), "QLinearSum16");
  Group rescaled;
  rescaled.output(rescaled.x, 0.25F, kZero);
  EXPECT_EQ(outcome(rescaled), "QLinearSum16");
}

TEST(FuseWords, ProductsOfTwoTensorsAreOneOperator) {
  Group product;
  EXPECT_EQ(product.node("MatMul", {product.x, product.input("z", {1, 6, 3}, 2, kZero)}),
            "QLinearProduct16");
}

TEST(FuseWords, MeansAreOneOperator) {
  Group windows;
  EXPECT_EQ(windows.node("AveragePool", {windows.x}, {{"kernel_shape", Ints{2}}}),
            "QLinearAveragePool16");
  Group whole;
  EXPECT_EQ(whole.node("GlobalAveragePool", {whole.x}), "QLinearGlobalAveragePool16");
}

TEST(FuseWords, MeansOverNeighbouringAxesAreOneOperator) {
  const auto of_axes = [](const Ints& axes, std::int64_t keep) {
    Group group({2, 3, 4, 5});
    group.model().initializer(
        "axes", Tensor::of<std::int64_t>({static_cast<std::int64_t>(axes.size())}, axes));
    return group.node("ReduceMean", {group.x, "axes"}, {{"keepdims", keep}});
  };
  for (const Ints& axes : {Ints{1}, Ints{-1}, Ints{2, 3}, Ints{1, 2}, Ints{0, 1, 2, 3}}) {
    EXPECT_EQ(of_axes(axes, 1), "QLinearReduceMean16");
    EXPECT_EQ(of_axes(axes, 0), "QLinearReduceMean16");
  }
  EXPECT_EQ(of_axes({1, 3}, 1), "its axes are not side by side, or have no element");
}

TEST(FuseWords, JoinedTensorsGetTheScaleOfTheResult) {
  Group same;
  const std::string z = same.input("z", {1, 4, 6}, 0.5F, kZero);
  EXPECT_EQ(same.node("Concat", {same.x, z}, {{"axis", std::int64_t{1}}}, kZero, 0.5F), "Concat");
  Group other;
  const std::string y = other.input("z", {1, 4, 6}, 0.25F, kZero);
  EXPECT_EQ(other.node("Concat", {other.x, y}, {{"axis", std::int64_t{1}}}, kZero, 0.5F), "Concat");
  Sink sink;
  const auto graph = other.fold(sink);
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[0].op_type, "QLinearSum16");
}

TEST(FuseWords, InputAndOutputHaveOneType) {
  Group group;
  const std::string z = group.input("z", {1, 4, 6}, 2, kZero);
  EXPECT_EQ(group.node("Add", {group.x, z}, {}, Tensor::of<std::uint16_t>({}, {0})),
            "the output is uint16, needs int16 as input 0");
}

}  // namespace
}  // namespace etch
