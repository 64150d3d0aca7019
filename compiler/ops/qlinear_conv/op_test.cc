// QLinearConv: the published vector, every mix of types, layouts, rounding, and the refusals.
// Shapes are tested with conv_geometry, scales with quantization.
#include "compiler/ops/qlinear_conv/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
using U8 = std::vector<std::uint8_t>;
using Wide = std::vector<std::int32_t>;

Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }
Tensor zero_point(DType type, std::int32_t value) { return narrowed(type, {}, {value}); }

TEST(QLinearConv, PublishedVector) {
  const U8 x{255, 174, 162, 25,  203, 168, 58,  15,  59,  237, 95,  129, 0,  64,  56, 242, 153,
             221, 168, 12,  166, 232, 178, 186, 195, 237, 162, 237, 188, 39, 124, 77, 80,  102,
             43,  127, 230, 21,  83,  41,  40,  134, 255, 154, 92,  141, 42, 148, 247};
  U8 y;
  for (const std::uint8_t value : x) y.push_back(static_cast<std::uint8_t>(255 - value));
  OneNode node("QLinearConv", "", 10);
  node.input(Tensor::of<std::uint8_t>({1, 1, 7, 7}, x));
  node.input(scalar(0.003692046971991658F)).input(zero_point(DType::kU8, 132));
  node.input(Tensor::of<std::uint8_t>({1, 1, 1, 1}, U8{0}));
  node.input(Tensor::of<float>({1}, {0.0017279457533732057F}));
  node.input(Tensor::of<std::uint8_t>({1}, U8{255}));
  node.input(scalar(0.001626812620088458F)).input(zero_point(DType::kU8, 123));
  EXPECT_EQ(node.run().at(0), Tensor::of<std::uint8_t>({1, 1, 7, 7}, y));
}

// A padded, strided, grouped convolution with a bias and everything per channel; x, w and y hold
// the same real values in whatever types are asked for.
Tensor run_mix(DType x_type, DType w_type, DType y_type) {
  const auto shift = [](DType type) { return type == DType::kS8 ? -128 : 0; };
  Wide x;
  Wide w;
  for (int i = 0; i < 2 * 4 * 5; ++i) x.push_back(i * 37 % 256 + shift(x_type));
  for (int i = 0; i < 4 * 1 * 2 * 3; ++i) w.push_back(i * 91 % 256 + shift(w_type));
  Wide w_zero;
  for (const int zero : {0, 100, 128, 255}) w_zero.push_back(zero + shift(w_type));
  OneNode node("QLinearConv");
  node.input(narrowed(x_type, {1, 2, 4, 5}, x)).constant(scalar(0.02F));
  node.constant(zero_point(x_type, 111 + shift(x_type)));
  node.constant(narrowed(w_type, {4, 1, 2, 3}, w));
  node.constant(Tensor::of<float>({4}, {0.01F, 0.02F, 0.005F, 0.03F}));
  node.constant(narrowed(w_type, {4}, w_zero)).constant(scalar(0.3F));
  node.constant(zero_point(y_type, 99 + shift(y_type)));
  node.constant(Tensor::of<std::int32_t>({4}, Wide{100, -2000, 3000, 0}));
  node.attribute("group", std::int64_t{2}).attribute("pads", Ints{1, 0, 0, 2});
  node.attribute("strides", Ints{1, 2});
  Wide y = widened(node.run().at(0));
  for (std::int32_t& value : y) value -= shift(y_type);
  return narrowed(DType::kU8, {static_cast<std::int64_t>(y.size())}, y);
}

TEST(QLinearConv, AllEightMixesOfTypesMeanTheSame) {
  const Tensor expected = run_mix(DType::kU8, DType::kU8, DType::kU8);
  EXPECT_EQ(expected.size(), 4 * 4 * 3);
  for (const DType x : {DType::kU8, DType::kS8}) {
    for (const DType w : {DType::kU8, DType::kS8}) {
      for (const DType y : {DType::kU8, DType::kS8}) {
        EXPECT_EQ(run_mix(x, w, y), expected) << name_of(x) << name_of(w) << name_of(y);
      }
    }
  }
}

// One 1x1 tap: y = requantized x * 1.
OneNode identity_conv(Tensor x, float y_scale, std::int32_t y_zero, std::string domain = "") {
  OneNode node("QLinearConv", std::move(domain), 1);
  const DType type = x.dtype();
  node.input(std::move(x)).constant(scalar(1)).constant(zero_point(type, 0));
  node.constant(narrowed(DType::kS8, {1, 1, 1}, {1})).constant(scalar(1));
  node.constant(zero_point(DType::kS8, 0)).constant(scalar(y_scale));
  node.constant(zero_point(type, y_zero));
  return node;
}

TEST(QLinearConv, RoundsTiesToEvenBeforeAddingTheZeroPoint) {
  OneNode node = identity_conv(narrowed(DType::kU8, {1, 1, 4}, {1, 3, 5, 7}), 2.0F, 1);
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 1, 4}, {1, 3, 3, 5}));
}

TEST(QLinearConv, AFusedActivationLimitsTheResult) {
  OneNode node = identity_conv(narrowed(DType::kS8, {1, 1, 4}, {-9, 3, 5, 100}), 1, 0, "org.etch");
  node.attribute("clamp_low", std::int64_t{-2}).attribute("clamp_high", std::int64_t{4});
  EXPECT_EQ(node.run().at(0), narrowed(DType::kS8, {1, 1, 4}, {-2, 3, 4, 4}));
}

TEST(QLinearConv, LimitsMustBeARangeOfTheType) {
  OneNode node = identity_conv(narrowed(DType::kU8, {1, 1, 1}, {1}), 1, 0, "org.etch");
  node.attribute("clamp_low", std::int64_t{5}).attribute("clamp_high", std::int64_t{4});
  EXPECT_EQ(node.errors(), "E-ATTR: and clamp_high must be a range within uint8, got 5 and 4");
  OneNode foreign = identity_conv(narrowed(DType::kU8, {1, 1, 1}, {1}), 1, 0);
  foreign.attribute("clamp_low", std::int64_t{1});
  EXPECT_EQ(foreign.errors(), "E-ATTR: is not an attribute of this operator");
}

TEST(QLinearConv, AccumulatorOverflowWraps) {
  // The bias is added modulo 2^32: 2^31 - 1 + 1 becomes -2^31, which saturates to 0.
  OneNode node = identity_conv(narrowed(DType::kU8, {1, 1, 2}, {0, 1}), 1.0F, 0);
  node.constant(Tensor::of<std::int32_t>({1}, Wide{2147483647}));
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 1, 2}, {255, 0}));
}

TEST(QLinearConv, RunTimeParametersGiveTheSameOutput) {
  OneNode node("QLinearConv");
  node.input(narrowed(DType::kU8, {1, 1, 4}, {1, 3, 5, 7})).input(scalar(1));
  node.input(zero_point(DType::kU8, 0)).input(narrowed(DType::kS8, {1, 1, 1}, {1}));
  node.input(scalar(1)).input(zero_point(DType::kS8, 0)).input(scalar(2));
  node.input(zero_point(DType::kU8, 1));
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 1, 4}, {1, 3, 3, 5}));
}

TEST(QLinearConv, ChannelsMayStandLast) {
  for (const char* domain : {"com.microsoft", "com.ms.internal.nhwc"}) {
    OneNode node = identity_conv(narrowed(DType::kU8, {1, 4, 1}, {1, 3, 5, 7}), 1.0F, 0, domain);
    if (std::string(domain) == "com.microsoft") node.attribute("channels_last", std::int64_t{1});
    EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 4, 1}, {1, 3, 5, 7})) << domain;
  }
}

TEST(QLinearConv, ChannelsLastInterleavesTheChannels) {
  OneNode node("QLinearConv", "com.microsoft", 1);
  node.input(narrowed(DType::kU8, {1, 2, 2}, {1, 2, 3, 4})).constant(scalar(1));
  node.constant(zero_point(DType::kU8, 0));
  node.constant(narrowed(DType::kS8, {3, 2, 1}, {1, 0, 0, 1, 1, 1})).constant(scalar(1));
  node.constant(zero_point(DType::kS8, 0)).constant(scalar(1)).constant(zero_point(DType::kU8, 0));
  node.attribute("channels_last", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), narrowed(DType::kU8, {1, 2, 3}, {1, 2, 3, 3, 4, 7}));
}

TEST(QLinearConv, BadLayoutsAndActivationsAreRefused) {
  const Tensor x(DType::kU8, {1, 1, 4});
  OneNode layout = identity_conv(x, 1.0F, 0, "com.microsoft");
  layout.attribute("channels_last", std::int64_t{2});
  EXPECT_EQ(layout.errors(), "E-ATTR: must be 0 or 1, got 2");
  OneNode onnx = identity_conv(x, 1.0F, 0);
  onnx.attribute("channels_last", std::int64_t{1});
  EXPECT_EQ(onnx.errors(), "E-ATTR: is not an attribute of this operator");
  OneNode fused = identity_conv(Tensor(DType::kU8, {1, 4, 1}), 1.0F, 0, "com.ms.internal.nhwc");
  fused.attribute("activation", "Relu");
  EXPECT_EQ(fused.errors(), "E-UNSUPPORTED: a fused activation is not supported, got 'Relu'");
}

TEST(QLinearConv, OtherTypesAreRefused) {
  EXPECT_EQ(identity_conv(Tensor(DType::kS16, {1, 1, 4}), 1.0F, 0).errors(),
            "E-TYPE: must be uint8, int8, got int16\nE-TYPE: must be uint8, int8, got int16");
  OneNode bias = identity_conv(Tensor(DType::kU8, {1, 1, 4}), 1.0F, 0);
  EXPECT_EQ(bias.constant(Tensor(DType::kF32, {1})).errors(), "E-TYPE: must be int32, got float32");
}

}  // namespace
}  // namespace etch
