// Dequantize: the three modes, round trips, refusals. Many more values are compared with
// TensorFlow's in tests/recorded/quantize_v2_recorded_test.cc.
#include "compiler/ops/dequantize/op.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }

OneNode dequantize(const char* mode, DType type, const std::vector<std::int32_t>& q, float min,
                   float max) {
  OneNode node("Dequantize", "org.tensorflow", 1);
  node.input(narrowed(type, {static_cast<std::int64_t>(q.size())}, q));
  node.input(scalar(min)).input(scalar(max)).attribute("mode", std::string(mode));
  return node;
}

std::vector<float> values(OneNode node) {
  const std::vector<Tensor> y = node.run();
  if (y.empty()) return {};
  return {y[0].as<float>().begin(), y[0].as<float>().end()};
}

TEST(Dequantize, MinCombinedSpansTheRange) {
  EXPECT_EQ(values(dequantize("MIN_COMBINED", DType::kU8, {0, 51, 255}, 0, 255)),
            (std::vector<float>{0, 51, 255}));
  EXPECT_EQ(values(dequantize("MIN_COMBINED", DType::kS8, {-128, 127}, -1, 1)),
            (std::vector<float>{-1, 1}));
}

TEST(Dequantize, MinFirstMakesZeroExact) {
  const auto y = values(dequantize("MIN_FIRST", DType::kU8, {0, 50, 255}, -1, 4.1F));
  ASSERT_EQ(y.size(), 3U);
  EXPECT_EQ(y[1], 0.0F);  // a step is 0.02
}

TEST(Dequantize, MinFirstOfARangeWithoutWidthIsItsValue) {
  EXPECT_EQ(values(dequantize("MIN_FIRST", DType::kU8, {0, 255}, 1, 1)),
            (std::vector<float>{1, 1}));
}

TEST(Dequantize, ScaledTakesTheWiderSide) {
  EXPECT_EQ(values(dequantize("SCALED", DType::kS8, {-128, 0, 64}, -10, 5)),
            (std::vector<float>{-10, 0, 5}));
  EXPECT_EQ(values(dequantize("SCALED", DType::kU8, {0, 255}, -10, 5)), (std::vector<float>{0, 5}));
  OneNode narrow = dequantize("SCALED", DType::kS8, {-127}, -127, 5);
  EXPECT_EQ(narrow.attribute("narrow_range", std::int64_t{1}).run().at(0).real(0), -127.0F);
}

TEST(Dequantize, BringsQuantizedValuesBackToWithinHalfAStep) {
  for (const char* mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}) {
    const std::vector<float> x = {-1, -0.3F, 0, 0.7F, 1};
    OneNode to("QuantizeV2", "org.tensorflow", 1);
    to.input(Tensor::of<float>({5}, x)).input(scalar(-1)).input(scalar(1)).outputs(3);
    to.attribute("mode", std::string(mode)).attribute("T", std::string("qint16"));
    const std::vector<Tensor> q = to.run();
    ASSERT_EQ(q.size(), 3U);
    OneNode back("Dequantize", "org.tensorflow", 1);
    back.input(q[0]).input(q[1]).input(q[2]).attribute("mode", std::string(mode));
    const std::vector<Tensor> y = back.run();
    ASSERT_EQ(y.size(), 1U);
    for (std::int64_t i = 0; i < 5; ++i) {
      EXPECT_LE(std::fabs(y[0].real(i) - x[static_cast<std::size_t>(i)]), 1.01F / 65535) << mode;
    }
  }
}

TEST(Dequantize, SlicesHaveTheirOwnRange) {
  OneNode node("Dequantize", "org.tensorflow", 1);
  node.input(narrowed(DType::kU8, {2, 2}, {0, 255, 0, 255}));
  node.input(Tensor::of<float>({2}, {0, 1})).input(Tensor::of<float>({2}, {255, 256}));
  node.attribute("axis", std::int64_t{0}).attribute("T", std::string("quint8"));
  EXPECT_EQ(node.run().at(0), Tensor::of<float>({2, 2}, {0, 255, 1, 256}));
}

TEST(Dequantize, RefusesWhatQuantizeV2Refuses) {
  OneNode mode = dequantize("MIN", DType::kU8, {1}, 0, 1);
  EXPECT_EQ(mode.errors(), "E-ATTR: must be MIN_COMBINED, MIN_FIRST or SCALED, got 'MIN'");
  OneNode axis = dequantize("SCALED", DType::kU8, {1}, 0, 1);
  EXPECT_EQ(axis.attribute("axis", std::int64_t{1}).errors(),
            "E-ATTR: must be -1, or an axis of the input, which has rank 1; got 1");
}

TEST(Dequantize, RefusesOtherTypes) {
  OneNode type = dequantize("SCALED", DType::kU8, {1}, 0, 1);
  EXPECT_EQ(type.attribute("T", std::string("qint8")).errors(),
            "E-ATTR: must be the input's type quint8, got 'qint8'");
  OneNode wide = dequantize("SCALED", DType::kU8, {1}, 0, 1);
  EXPECT_EQ(wide.attribute("dtype", std::string("bfloat16")).errors(),
            "E-ATTR: must be float, got 'bfloat16'");
  OneNode input("Dequantize", "org.tensorflow", 1);
  input.input(scalar(1)).input(scalar(0)).input(scalar(1));
  EXPECT_NE(input.errors().find("E-TYPE"), std::string::npos);
}

}  // namespace
}  // namespace etch
