// QGemm: both kinds of output, order of the scale, refusals.
#include "compiler/ops/qgemm/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

using Wide = std::vector<std::int32_t>;

Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }

// A - 1 = (0, 1), B - (0, 6) = ((4, 0), (8, 4)): sums 8 and 4; with C 108 and 4.
OneNode example() {
  OneNode node("QGemm", "com.microsoft", 1);
  node.input(narrowed(DType::kU8, {1, 2}, {1, 2})).constant(scalar(0.5F));
  node.constant(narrowed(DType::kU8, {}, {1}));
  node.constant(narrowed(DType::kS8, {2, 2}, {4, 6, 8, 10}));
  node.constant(Tensor::of<float>({2}, {0.25F, 2.0F})).constant(narrowed(DType::kS8, {2}, {0, 6}));
  node.constant(Tensor::of<std::int32_t>({2}, Wide{100, 0}));
  return node;
}

TEST(QGemm, RequantizesWithAnOutputScale) {
  OneNode node = example();
  node.constant(scalar(0.5F)).constant(narrowed(DType::kU8, {}, {10}));
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 2}, {37, 18}));
  EXPECT_EQ(params_of<QGemmParams>(node.node()).output, QGemmOutput::kQuantized);
}

TEST(QGemm, IsFloatWithoutAnOutputScale) {
  OneNode node = example();
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 2}, {13.5F, 4.0F}));
  EXPECT_EQ(params_of<QGemmParams>(node.node()).output, QGemmOutput::kFloat);
}

TEST(QGemm, MultipliesAlphaIntoTheScaleOfAFirst) {
  // Any other order, and double arithmetic, give the next float, 0x1.581064p-6.
  const Quantization a{{0.1F}, {0}};
  const Quantization b{{0.7F}, {0}};
  EXPECT_EQ(qgemm_scale(0.3F, a, b, nullptr), (std::vector<float>{0x1.581062p-6F}));
  const Quantization y{{0.25F}, {0}};
  EXPECT_EQ(qgemm_scale(0.3F, a, b, &y), (std::vector<float>{0x1.581062p-4F}));
}

TEST(QGemm, TransposesItsOperands) {
  OneNode node("QGemm", "com.microsoft", 1);
  node.input(narrowed(DType::kU8, {2, 1}, {1, 2})).constant(scalar(1));
  node.constant(narrowed(DType::kU8, {}, {0}));
  node.constant(narrowed(DType::kU8, {2, 2}, {5, 7, 6, 8})).constant(scalar(1));
  node.constant(narrowed(DType::kU8, {}, {0}));
  node.attribute("transA", std::int64_t{1}).attribute("transB", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({1, 2}, {19, 22}));
}

TEST(QGemm, AlphaMustBePositive) {
  for (const auto& [alpha, text] :
       std::vector<std::pair<float, std::string>>{{0.0F, "0"}, {-1.0F, "-1"}}) {
    OneNode node = example();
    node.attribute("alpha", alpha);
    EXPECT_EQ(node.errors(), "E-ATTR: must be finite and > 0, got " + text);
  }
}

TEST(QGemm, OutputScaleAndZeroPointComeTogether) {
  EXPECT_EQ(example().constant(scalar(1)).errors(),
            "E-GRAPH: y_scale and y_zero_point must be given both or neither");
}

TEST(QGemm, WrongTypesAndLengthsAreRefused) {
  OneNode type = example();
  type.constant(scalar(1)).constant(Tensor(DType::kS32, {}));
  EXPECT_EQ(type.errors(), "E-TYPE: must be uint8, int8, got int32");
  OneNode bias("QGemm", "com.microsoft", 1);
  bias.input(Tensor(DType::kU8, {1, 2})).constant(scalar(1)).constant(Tensor(DType::kU8, {}));
  bias.constant(Tensor(DType::kS8, {2, 2})).constant(Tensor::of<float>({3}, {1, 1, 1}));
  bias.constant(Tensor(DType::kS8, {}));
  EXPECT_EQ(bias.errors(), "E-QUANT: shape must be [] or [1] or [2], got [3]");
  OneNode wrong_c("QGemm", "com.microsoft", 1);
  wrong_c.input(Tensor(DType::kU8, {1, 2})).constant(scalar(1)).constant(Tensor(DType::kU8, {}));
  wrong_c.constant(Tensor(DType::kS8, {2, 2})).constant(scalar(1)).constant(Tensor(DType::kS8, {}));
  wrong_c.constant(Tensor(DType::kF32, {2}));
  EXPECT_EQ(wrong_c.errors(), "E-TYPE: must be int32, got float32");
}

}  // namespace
}  // namespace etch
