// Which sums of a product and a constant become its bias, and that every result stays as it is.
#include "compiler/passes/fuse_bias.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/dead_code.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qgemm/op.h"
#include "tests/support/cases.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr std::int64_t kDepth = 24, kColumns = 10, kRows = 3;

// x s8 times w s8, a float; plus biases of the product's own scale; quantized as s8.
class Dense {
 public:
  explicit Dense(float bias_scale = 0.02F * 0.004F) {
    model_.opset("com.microsoft", 1);
    model_.input("x", DType::kS8, {kRows, kDepth});
    model_.initializer("xs", f32({}, {0.02F})).initializer("xz", s8({}, {-5}));
    Dice dice(7);
    model_.initializer("w", random_bytes(dice, DType::kS8, {kDepth, kColumns}, -127, 127));
    model_.initializer("ws", f32({}, {0.004F})).initializer("wz", s8({}, {0}));
    model_.initializer("ys", f32({}, {0.0517F})).initializer("yz", s8({}, {-20}));
    std::vector<float> bias;
    bias.reserve(kColumns);
    for (std::int64_t n = 0; n < kColumns; ++n)
      bias.push_back(static_cast<float>(static_cast<int>(n) * 1'000 - 4'000) * bias_scale);
    model_.initializer("b", f32({kColumns}, bias));
    model_.node("QGemm", {"x", "xs", "xz", "w", "ws", "wz"}, {"p"}, {}, "com.microsoft");
  }
  ModelBuilder& model() { return model_; }

  void add_and_quantize(bool relu = false) {
    model_.node("Add", {"p", "b"}, {"s"});
    if (relu) model_.node("Relu", {"s"}, {"r"});
    model_.node("QuantizeLinear", {relu ? "r" : "s", "ys", "yz"}, {"y"}).output("y");
  }

  Graph graph() const {
    Sink sink;
    auto graph = load(model_, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    return graph ? std::move(*graph) : Graph{};
  }
  Graph fused() const {
    Graph out = graph();
    fuse_biases(out);
    verify(out, Resolved::kYes);
    return out;
  }

 private:
  ModelBuilder model_{13};
};

std::string operators(Graph graph) {
  remove_dead(graph);
  std::string out;
  for (const Node& node : graph.nodes) out += cat(out.empty() ? "" : " ", node.op_type);
  return out;
}

// Of random bytes and of the least and the greatest.
void expect_equal_results(const Graph& a, const Graph& b) {
  Dice dice(3);
  for (int trial = 0; trial < 20; ++trial) {
    Tensor x = random_bytes(dice, DType::kS8, {kRows, kDepth}, trial % 3 == 0 ? -128 : 0, 127);
    EXPECT_EQ(evaluate(a, {x}).at(0), evaluate(b, {x}).at(0)) << trial;
  }
}

TEST(FuseBias, AnAddBeforeQuantizationIsTheBiasOfTheProduct) {
  Dense dense;
  dense.add_and_quantize();
  const Graph fused = dense.fused();
  EXPECT_EQ(operators(fused), "QGemm");
  expect_equal_results(dense.graph(), fused);
  const auto& params = params_of<QGemmParams>(fused.nodes.back());
  EXPECT_EQ(params.a->scale_at(0), 0.02F);
  EXPECT_EQ(params.y->scale_at(0), 0.0517F);
}

TEST(FuseBias, ReluIsALimit) {
  Dense dense;
  dense.add_and_quantize(true);
  const Graph fused = dense.fused();
  EXPECT_EQ(operators(fused), "QGemm");
  EXPECT_EQ(params_of<QGemmParams>(fused.nodes.back()).limits.low, -20);
  expect_equal_results(dense.graph(), fused);
}

// 0.33 of a step of the product's scale beside an integer, and more.
TEST(FuseBias, BiasesThatNoIntegerStandsForStay) {
  Dense dense(0.02F * 0.004F * 1.00033F);
  dense.add_and_quantize();
  EXPECT_EQ(operators(dense.fused()), "QGemm Add QuantizeLinear");
}

TEST(FuseBias, ASumThatSomethingElseReadsStays) {
  Dense dense;
  dense.add_and_quantize();
  dense.model().output("s");
  EXPECT_EQ(operators(dense.fused()), "QGemm Add QuantizeLinear");
}

// x u8 [2, 1] times w u8 [1, columns], plus a constant without a dimension.
std::string operators_with_scalar(std::int64_t columns) {
  ModelBuilder model{13};
  model.opset("com.microsoft", 1).input("x", DType::kU8, {2, 1});
  model.initializer("s", f32({}, {0.5F})).initializer("z", u8({}, {128}));
  model.initializer("w", Tensor(DType::kU8, {1, columns})).initializer("b", f32({}, {3}));
  model.node("QGemm", {"x", "s", "z", "w", "s", "z"}, {"p"}, {}, "com.microsoft");
  model.node("Add", {"p", "b"}, {"a"}).node("QuantizeLinear", {"a", "s", "z"}, {"y"}).output("y");
  Sink sink;
  auto graph = load(model, sink);
  if (!graph) return errors_of(sink);
  fuse_biases(*graph);
  return operators(std::move(*graph));
}

// One column and a constant of no dimensions, which have no last size.
TEST(FuseBias, AScalarIsTheBiasOfOneColumn) { EXPECT_EQ(operators_with_scalar(1), "QGemm"); }

TEST(FuseBias, MoreColumnsThanCanBeSearchedSoonStay) {
  EXPECT_EQ(operators_with_scalar(1 << 10), "QGemm");
  EXPECT_EQ(operators_with_scalar((1 << 18) + 1), "QGemm Add QuantizeLinear");
}

TEST(FuseBias, AnAddThatIsNotConstantStays) {
  Dense dense;
  dense.model().input("z", DType::kF32, {kColumns});
  dense.model().node("Add", {"p", "z"}, {"s"});
  dense.model().node("QuantizeLinear", {"s", "ys", "yz"}, {"y"}).output("y");
  EXPECT_EQ(operators(dense.fused()), "QGemm Add QuantizeLinear");
}

}  // namespace
}  // namespace etch
