// Products of quantized values with a float result: which become integers with --qdq all, what
// they then give, and what the others are told.
#include "compiler/passes/integer_products.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "compiler/passes/fold_qdq.h"
#include "tests/support/model_builder.h"
#include "tests/support/qdq_model.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

const Tensor kSevenU8 = u8({}, {7});

constexpr QdqGroups kAll = QdqGroups::kAll;

// Conv of x [1, 1, 3] with two filters of one tap, whose result is an output.
QdqModel last_convolution(float x_scale, const std::vector<float>& w_scales) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 1, 3}, x_scale, kSevenU8);
  const Shape scales = w_scales.size() == 1 ? Shape{} : Shape{2};
  const std::string w = qdq.weights("w", s8({2, 1, 1}, {-3, 5}), f32(scales, w_scales));
  qdq.model().initializer("b", f32({2}, {0.1F, -1000}));
  qdq.model().node("Conv", {x, w, "b"}, {"y"}).output("y");
  return qdq;
}

TEST(IntegerProducts, TheSumIsScaledOnceAndTheBiasAdded) {
  const QdqModel qdq = last_convolution(0.3F, {0.7F, 0.01F});
  EXPECT_EQ(qdq.operators(kAll), "ConvInteger Cast Mul Reshape Add");
  Sink sink;
  const auto graph = qdq.fold(sink, kAll);
  const float first = 0.3F * 0.7F, second = 0.3F * 0.01F;
  EXPECT_EQ(evaluate(*graph, {u8({1, 1, 3}, {0, 7, 255})}).at(0),
            f32({1, 2, 3}, {21 * first + 0.1F, 0.1F, -744 * first + 0.1F, -35 * second - 1000,
                            -1000, 1240 * second - 1000}));
}

TEST(IntegerProducts, MatMulAndGemmBecomeThem) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {2, 3, 4}, 0.5F, kSevenU8);
  const std::string w =
      qdq.weights("w", s8({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), f32({2}, {0.25F, 0.5F}), 1);
  qdq.model().node("MatMul", {x, w}, {"y"}).output("y");
  EXPECT_EQ(qdq.operators(kAll), "MatMulIntegerToFloat");
  QdqModel gemm;
  const std::string a = gemm.input("x", {2, 2}, 0.5F, kSevenU8);
  const std::string b =
      gemm.weights("w", s8({3, 2}, {1, 2, 3, 4, 5, 6}), f32({3}, {0.25F, 0.5F, 1}), 0);
  gemm.model().initializer("c", f32({3}, {0.5F, 1, 2}));
  gemm.model().node("Gemm", {a, b, "c"}, {"y"}, {{"transB", std::int64_t{1}}}).output("y");
  EXPECT_EQ(gemm.operators(kAll), "Transpose MatMulIntegerToFloat Add");
}

TEST(IntegerProducts, WithoutTheOptionTheyAreFloatAndSaySo) {
  const QdqModel qdq = last_convolution(0.3F, {0.7F, 0.01F});
  Sink sink;
  auto graph = qdq.fold(sink);
  graph->fusions.finish(*graph);
  ASSERT_EQ(graph->fusions.records().size(), 1U);
  EXPECT_EQ(graph->fusions.records()[0].what, "its float result is a graph output");
  EXPECT_EQ(graph->fusions.records()[0].option, "--qdq all");
}

// Products of scales that are no normal floats, or infinite, are another result.
TEST(IntegerProducts, ExtremeScalesStayFloat) {
  constexpr float kTiny = std::numeric_limits<float>::min();
  EXPECT_EQ(last_convolution(kTiny, {0.5F}).operators(kAll),
            "DequantizeLinear DequantizeLinear Conv");
  EXPECT_EQ(last_convolution(1e20F, {1e20F}).operators(kAll),
            "DequantizeLinear DequantizeLinear Conv");
  EXPECT_EQ(last_convolution(1, {1, -1}).operators(kAll), "DequantizeLinear DequantizeLinear Conv");
  EXPECT_EQ(last_convolution(1, {1, kTiny}).operators(kAll), "ConvInteger Cast Mul Reshape Add");
}

TEST(IntegerProducts, SumsThatMayLeaveInt32StayFloat) {
  for (const std::int64_t terms : {33025, 33026}) {  // times 255 * 255: up to 2^31, and beyond
    QdqModel qdq;
    const std::string x = qdq.input("x", {1, terms}, 0.5F, kSevenU8);
    const std::string w = qdq.weights("w", Tensor(DType::kS8, {terms, 1}), f32({}, {0.5F}));
    qdq.model().initializer("c", f32({1}, {0.25F}));
    qdq.model().node("Gemm", {x, w, "c"}, {"y"}).output("y");
    EXPECT_EQ(qdq.operators(kAll), terms == 33025 ? "MatMulIntegerToFloat Add"
                                                  : "DequantizeLinear DequantizeLinear Gemm");
  }
}

}  // namespace
}  // namespace etch
