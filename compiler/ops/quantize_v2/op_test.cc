// QuantizeV2: every row of docs/spec/quantize_v2.md section 7.6, TensorFlow's own vectors, what is
// refused.
#include "compiler/ops/quantize_v2/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"
#include "tests/support/paths.h"
#include "tests/support/results.h"

namespace etch {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }

// Per tensor, with a range known when compiling.
OneNode quantize(const char* mode, const char* type, float min, float max,
                 const std::vector<float>& x) {
  OneNode node("QuantizeV2", "org.tensorflow", 1);
  node.input(floats(x)).constant(scalar(min)).constant(scalar(max)).outputs(3);
  node.attribute("mode", std::string(mode)).attribute("T", std::string(type));
  return node;
}

using Values = std::vector<std::int64_t>;

void expect(OneNode& node, const Values& output, float low, float high) {
  const std::vector<Tensor> y = node.run();
  ASSERT_EQ(y.size(), 3U);
  EXPECT_EQ(y[0].integers(), output);
  EXPECT_FLOAT_EQ(y[1].real(0), low);
  EXPECT_FLOAT_EQ(y[2].real(0), high);
}

// ---- docs/spec/quantize_v2.md section 7.6 ----

TEST(QuantizeV2, MinFirstOf0To255) {
  OneNode node = quantize("MIN_FIRST", "quint8", 0, 255, {1, 1.25F, 1.75F, 127, 255, 500});
  expect(node, {1, 1, 2, 127, 255, 255}, 0, 255);
}

TEST(QuantizeV2, MinFirstTo32BitsStopsAtTheGreatestFloat) {
  OneNode node =
      quantize("MIN_FIRST", "qint32", -256, 256, {-500, 0, 1, 1.25F, 1.75F, 127, 255, 500});
  expect(node, {-2147483648, 0, 8388608, 10485760, 14680064, 1065353216, 2139095040, 2147483520},
         -256, 256);
}

TEST(QuantizeV2, MinFirstWidensAnEmptyRange) {
  OneNode node = quantize("MIN_FIRST", "quint8", 0, 0, {0, 0, 0, 0, 0, 0});
  expect(node, {0, 0, 0, 0, 0, 0}, 0, 0.01F);
}

TEST(QuantizeV2, MinFirstMovesTheMinimumToZero) {
  OneNode node = quantize("MIN_FIRST", "quint8", 0.1F, 0.3F, {0.1F, 0.2F, 0.3F});
  expect(node, {85, 170, 255}, 0, 0.3F);
}

TEST(QuantizeV2, MinFirstMovesTheMaximumToZero) {
  OneNode node = quantize("MIN_FIRST", "quint8", -0.3F, -0.1F, {-0.1F, -0.2F, -0.3F});
  expect(node, {170, 85, 0}, -0.3F, 0);
}

TEST(QuantizeV2, ScaledHalfToEvenPerAxis) {
  std::vector<float> x, min, max;
  Values expected;
  for (int k = 1; k <= 5; ++k) {
    const auto factor = static_cast<float>(k);
    for (const float v : {-1.0F, -0.5F, 0.0F, 0.3F, 0.8F, 0.555F, 0.5F}) x.push_back(factor * v);
    for (const int q : {-128, -64, 0, 38, 102, 71, 64}) expected.push_back(q);
    min.push_back(-factor);
    max.push_back(0.8F * factor);
  }
  OneNode node("QuantizeV2", "org.tensorflow", 1);
  node.input(Tensor::of<float>({5, 7}, x)).input(floats(min)).input(floats(max)).outputs(3);
  node.attribute("mode", std::string("SCALED"))
      .attribute("round_mode", std::string("HALF_TO_EVEN"));
  node.attribute("T", std::string("qint8")).attribute("axis", std::int64_t{0});
  const std::vector<Tensor> y = node.run();
  ASSERT_EQ(y.size(), 3U);
  EXPECT_EQ(y[0].integers(), expected);
  for (int k = 1; k <= 5; ++k) {
    EXPECT_FLOAT_EQ(y[1].real(k - 1), static_cast<float>(-k));
    EXPECT_FLOAT_EQ(y[2].real(k - 1), 127.0F * static_cast<float>(k) / 128);
  }
}

TEST(QuantizeV2, ScaledOfMinus10To5) {
  OneNode node = quantize("SCALED", "qint8", -10, 5, {-10, -5, 0, 5, 9.921875F, 20});
  expect(node, {-128, -64, 0, 64, 127, 127}, -10, 9.921875F);
}

TEST(QuantizeV2, ScaledWithNarrowRange) {
  OneNode node = quantize("SCALED", "qint8", -10, 5, {-10, -5, 0, 5, 10, 20});
  node.attribute("narrow_range", std::int64_t{1});
  expect(node, {-127, -64, 0, 64, 127, 127}, -10, 10);
}

TEST(QuantizeV2, ScaledUnsignedIgnoresTheMinimum) {
  OneNode node = quantize("SCALED", "quint8", -10, 10, {-1, 0, 0.01F, 5, 10});
  expect(node, {0, 0, 0, 128, 255}, 0, 10);
}

TEST(QuantizeV2, ScaledUnsignedWithNarrowRangeBeginsAt1) {
  OneNode node = quantize("SCALED", "quint8", 0, 10, {-1, 0, 0.01F, 5, 10});
  node.attribute("narrow_range", std::int64_t{1});
  expect(node, {1, 1, 1, 128, 255}, 0.039215688F, 10);
}

TEST(QuantizeV2, ScaledTiesGoAwayFromZeroOrToEven) {
  const std::vector<float> x = {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F};
  OneNode away = quantize("SCALED", "qint8", -128, 127, x);
  expect(away, {-3, -2, -1, 1, 2, 3}, -128, 127);
  OneNode even = quantize("SCALED", "qint8", -128, 127, x);
  even.attribute("round_mode", std::string("HALF_TO_EVEN"));
  expect(even, {-2, -2, 0, 0, 2, 2}, -128, 127);
}

TEST(QuantizeV2, ScaledOfAnEmptyRange) {
  OneNode widened = quantize("SCALED", "qint8", 0, 0, {0, 0.005F, 1, -1});
  expect(widened, {0, 64, 127, -128}, -0.010078740F, 0.01F);
  OneNode empty = quantize("SCALED", "qint8", 0, 0, {0, 1, -1});
  empty.attribute("ensure_minimum_range", 0.0F);
  expect(empty, {0, 127, -128}, -128.0F / 3.40282347e38F, 127.0F / 3.40282347e38F);
}

TEST(QuantizeV2, MinCombinedOf0To6) {
  const std::vector<float> x = {0, 0.01F, 0.012F, 1, 3, 6, 7};
  OneNode u8 = quantize("MIN_COMBINED", "quint8", 0, 6, x);
  expect(u8, {0, 0, 1, 43, 128, 255, 255}, 0, 6);
  OneNode s8 = quantize("MIN_COMBINED", "qint8", 0, 6, x);
  expect(s8, {-128, -128, -127, -86, -1, 127, 127}, 0, 6);  // 127.5 - 128 goes away from zero
}

TEST(QuantizeV2, MinCombinedOf1To6BeginsAtZero) {
  OneNode node = quantize("MIN_COMBINED", "quint8", 1, 6, {0, 1, 6});
  expect(node, {0, 43, 255}, 0, 6);
}

TEST(QuantizeV2, MinCombinedTo16Bits) {
  OneNode s16 = quantize("MIN_COMBINED", "qint16", -1, 1, {-1, -0.5F, 0, 0.5F, 1});
  expect(s16, {-32768, -16384, -1, 16383, 32767}, -1, 1);
  OneNode u16 = quantize("MIN_COMBINED", "quint16", 0, 1, {0, 0.5F, 1});
  expect(u16, {0, 32768, 65535}, 0, 1);
}

TEST(QuantizeV2, MinCombinedTo32BitsSaturates) {
  OneNode node = quantize("MIN_COMBINED", "qint32", -1, 1, {-1, 0, 1});
  expect(node, {-2147483648, 0, 2147483647}, -1, 1);
}

TEST(QuantizeV2, MinFirstOfAnEmptyRange) {
  OneNode node = quantize("MIN_FIRST", "quint8", 0, 0, {0, 1});
  node.attribute("ensure_minimum_range", 0.0F);
  expect(node, {0, 0}, 0, 0);
}

// TensorFlow's unit tests, as recorded in shared/models/vectors.
TEST(QuantizeV2, PassesTensorFlowsOwnVectors) {
  const std::filesystem::path path = source_dir() + "/../shared/models/vectors/tf_quantize_v2.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  std::ifstream file(path);
  int checked = 0;
  Tally tally("vectors");
  for (const auto& each : nlohmann::json::parse(file)) {
    const std::string name = each.at("name");
    const auto x = each.at("input").get<std::vector<float>>();
    const Shape shape = each.contains("shape") ? each["shape"].get<Shape>()
                                               : Shape{static_cast<std::int64_t>(x.size())};
    const bool has_axis = each.contains("axis") && !each["axis"].is_null();
    const auto ends = [&](const char* key) {
      const auto values = each.at(key).get<std::vector<float>>();
      return has_axis ? floats(values) : scalar(values.at(0));
    };
    OneNode node("QuantizeV2", "org.tensorflow", 1);
    node.input(Tensor::of<float>(shape, x)).input(ends("min_range")).input(ends("max_range"));
    node.attribute("mode", each.at("mode").get<std::string>()).outputs(3);
    node.attribute("T", each.at("T").get<std::string>());
    if (each.contains("round_mode")) {
      node.attribute("round_mode", each["round_mode"].get<std::string>());
    }
    if (has_axis) {  // TensorFlow's Python wrapper counts negative axes from the end
      const auto axis = each["axis"].get<std::int64_t>();
      node.attribute("axis", axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
    }
    const std::vector<Tensor> y = node.run();
    ASSERT_EQ(y.size(), 3U) << name;
    const auto expected = each.at("expected").get<Values>();
    const double tolerance = each.value("abs_tol", 0.0);
    bool passed = true;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double off = std::abs(static_cast<double>(y[0].integers()[i] - expected[i]));
      EXPECT_LE(off, tolerance) << name << " element " << i;
      passed = passed && off <= tolerance;
    }
    const std::string mode = each.at("mode");
    const std::string rounding = each.value("round_mode", "HALF_AWAY_FROM_ZERO");
    tally.count("QuantizeV2/" + mode + (mode == "SCALED" ? " " + rounding : "") + " to " +
                    each.at("T").get<std::string>(),
                passed);
    ++checked;
  }
  EXPECT_EQ(checked, 14);
}

// ---- what TensorFlow leaves to the CPU ----

TEST(QuantizeV2, NanGivesTheLeastValueAndInfinitiesTheEnds) {
  for (const char* mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}) {
    OneNode node = quantize(mode, "qint8", -1, 1, {kNan, kInfinity, -kInfinity});
    EXPECT_EQ(node.run().at(0).integers(), (Values{-128, 127, -128})) << mode;
  }
}

TEST(QuantizeV2, SubnormalNumbersCountAsZeroLikeInTensorFlow) {
  // Nothing of [-3, -1] can be scaled to unsigned values; 1 / FLT_MAX would be subnormal.
  OneNode node = quantize("SCALED", "quint8", -3, -1, {-2});
  node.attribute("narrow_range", std::int64_t{1});
  EXPECT_EQ(node.run().at(0).integers(), Values{0});
}

// ---- forms ----

TEST(QuantizeV2, IsAlsoCalledQuantizeAndTakesOnnxNumbersOfTypes) {
  OneNode node("Quantize", "org.tensorflow", 7);
  node.input(floats({1})).constant(scalar(0)).constant(scalar(255));
  node.attribute("T", std::int64_t{2});  // uint8
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1}, {1}));
}

TEST(QuantizeV2, ConstantRangesMakeConstantOutputs) {
  OneNode node = quantize("SCALED", "qint8", -10, 5, {1});
  ASSERT_TRUE(node.resolve());
  EXPECT_EQ(node.node().outputs[1], kNoValue);  // no longer the node's business
  EXPECT_EQ(node.node().outputs[2], kNoValue);
  EXPECT_EQ(params_of<QuantizeV2Params>(node.node()).ranges.size(), 1U);
}

TEST(QuantizeV2, OneSliceMakesScalarOutputs) {
  OneNode node("QuantizeV2", "org.tensorflow", 1);
  node.input(Tensor::of<float>({1, 2}, {1, 2})).input(floats({0})).input(floats({2})).outputs(3);
  node.attribute("T", std::string("quint8")).attribute("axis", std::int64_t{0});
  const std::vector<Tensor> y = node.run();
  ASSERT_EQ(y.size(), 3U);
  EXPECT_EQ(y[1].shape(), Shape{});
}

// ---- refusals: docs/spec/quantize_v2.md section 7.5 ----

OneNode good() { return quantize("SCALED", "qint8", -1, 1, {0.5F}); }

TEST(QuantizeV2, RefusesWhatIsNoType) {
  EXPECT_EQ(good().attribute("T", std::string("float")).errors(),
            "E-ATTR: must be qint8, quint8, qint16, quint16, qint32 or their number, got 'float'");
  EXPECT_EQ(good().attribute("T", std::int64_t{7}).errors(),
            "E-ATTR: must be qint8, quint8, qint16, quint16, qint32 or their number, got '7'");
  OneNode without("QuantizeV2", "org.tensorflow", 1);
  without.input(floats({1})).constant(scalar(0)).constant(scalar(1));
  EXPECT_EQ(without.errors(),
            "E-ATTR: must be qint8, quint8, qint16, quint16, qint32 or their number");
}

TEST(QuantizeV2, RefusesUnknownModes) {
  EXPECT_EQ(good().attribute("mode", std::string("MAX")).errors(),
            "E-ATTR: must be MIN_COMBINED, MIN_FIRST or SCALED, got 'MAX'");
  EXPECT_EQ(good().attribute("round_mode", std::string("UP")).errors(),
            "E-ATTR: must be HALF_AWAY_FROM_ZERO or HALF_TO_EVEN, got 'UP'");
}

TEST(QuantizeV2, RefusesHalfToEvenUnlessScaled) {
  OneNode node = quantize("MIN_FIRST", "qint8", -1, 1, {0});
  node.attribute("round_mode", std::string("HALF_TO_EVEN"));
  EXPECT_EQ(node.errors(), "E-ATTR: can be HALF_TO_EVEN with mode SCALED only, not with MIN_FIRST");
}

TEST(QuantizeV2, RefusesAxesThatTheInputHasNot) {
  EXPECT_EQ(good().attribute("axis", std::int64_t{-2}).errors(),
            "E-ATTR: must be -1, or an axis of the input, which has rank 1; got -2");
  EXPECT_EQ(good().attribute("axis", std::int64_t{1}).errors(),
            "E-ATTR: must be -1, or an axis of the input, which has rank 1; got 1");
}

OneNode with_ends(Tensor min, Tensor max, std::int64_t axis, const char* mode = "SCALED") {
  OneNode node("QuantizeV2", "org.tensorflow", 1);
  node.input(Tensor::of<float>({2, 3}, std::vector<float>(6, 1.0F)));
  node.constant(std::move(min)).constant(std::move(max)).attribute("axis", axis);
  node.attribute("T", std::string("qint8")).attribute("mode", std::string(mode));
  return node;
}

TEST(QuantizeV2, RefusesRangesOfAnotherShape) {
  EXPECT_EQ(with_ends(floats({0, 0}), floats({1, 1}), -1).errors(),
            "E-SHAPE: must hold one value without an axis, has the shape [2]");
  EXPECT_EQ(with_ends(scalar(0), scalar(1), 0).errors(),
            "E-SHAPE: must have the shape [2] like the input's axis, got []");
  EXPECT_EQ(with_ends(floats({0, 0, 0}), floats({1, 1}), 1).errors(),
            "E-SHAPE: must have the shape [3] like the input's axis, got [2]");
}

TEST(QuantizeV2, RefusesSlicesWithMinFirst) {
  EXPECT_EQ(with_ends(floats({0, 0}), floats({1, 1}), 0, "MIN_FIRST").errors(),
            "E-UNSUPPORTED: mode MIN_FIRST is not defined for an axis of several slices");
}

TEST(QuantizeV2, RefusesConstantRangesThatCannotBe) {
  EXPECT_EQ(quantize("SCALED", "qint8", 2, 1, {0}).errors(),
            "E-QUANT: min_range 2 and max_range 1: max_range must not be less than min_range");
  EXPECT_EQ(with_ends(floats({0, 3}), floats({1, 2}), 0).errors(),
            "E-QUANT: min_range 3 and max_range 2: max_range must not be less than min_range");
  EXPECT_NE(quantize("SCALED", "qint8", kNan, 1, {0}).errors().find("both must be finite"),
            std::string::npos);
  EXPECT_NE(quantize("SCALED", "qint8", 0, kInfinity, {0}).errors().find("both must be finite"),
            std::string::npos);
  OneNode empty = quantize("MIN_COMBINED", "quint8", 0, 0, {0});
  EXPECT_NE(empty.attribute("ensure_minimum_range", 0.0F).errors().find("is beyond float32"),
            std::string::npos);
  EXPECT_EQ(good().attribute("ensure_minimum_range", kNan).errors(), "E-ATTR: must be finite");
}

TEST(QuantizeV2, RefusesOtherTypesThanFloat) {
  OneNode node("QuantizeV2", "org.tensorflow", 1);
  node.input(Tensor::of<std::int32_t>({1}, {1})).constant(scalar(0)).constant(scalar(1));
  EXPECT_EQ(node.attribute("T", std::string("qint8")).errors(),
            "E-TYPE: must be float32, got int32");
  OneNode ends("QuantizeV2", "org.tensorflow", 1);
  ends.input(floats({1})).constant(scalar(0)).constant(Tensor::of<std::int32_t>({}, {1}));
  EXPECT_EQ(ends.attribute("T", std::string("qint8")).errors(),
            "E-TYPE: must be float32, got int32");
}

TEST(QuantizeV2, RefusesUnknownAttributes) {
  EXPECT_EQ(good().attribute("scale", 1.0F).errors(),
            "E-ATTR: is not an attribute of this operator");
}

}  // namespace
}  // namespace etch
