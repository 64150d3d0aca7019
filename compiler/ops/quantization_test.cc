// Reading, checking and combining of scales and zero points, through QLinearConv's inputs.
#include "compiler/ops/quantization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/ops/qlinear_conv/op.h"
#include "tests/support/model_builder.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

using U8 = std::vector<std::uint8_t>;
using S8 = std::vector<std::int8_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor scalar(float value) { return Tensor::of<float>({}, {value}); }

// The quantization of a 1x1 convolution with 3 output channels.
struct Parameters {
  Tensor x_scale = scalar(0.5F);
  Tensor x_zero = Tensor::of<std::uint8_t>({}, U8{1});
  Tensor w_scale = Tensor::of<float>({3}, {1.0F, 2.0F, 4.0F});
  Tensor w_zero = Tensor::of<std::int8_t>({3}, S8{0, 1, 2});
  Tensor y_scale = scalar(0.25F);
  Tensor y_zero = Tensor::of<std::uint8_t>({}, U8{9});
};

OneNode conv_with(const Parameters& p) {
  OneNode node("QLinearConv");
  node.input(Tensor(DType::kU8, {1, 1, 2, 2})).constant(p.x_scale).constant(p.x_zero);
  node.constant(Tensor(DType::kS8, {3, 1, 1, 1})).constant(p.w_scale).constant(p.w_zero);
  node.constant(p.y_scale).constant(p.y_zero);
  return node;
}

std::string errors_with(const Parameters& p) { return conv_with(p).errors(); }

TEST(Quantization, ConstantsBecomeVectors) {
  OneNode node = conv_with({});
  ASSERT_TRUE(node.resolve());
  const auto& params = params_of<QLinearConvParams>(node.node());
  EXPECT_EQ(params.x, (Quantization{{0.5F}, {1}}));
  EXPECT_EQ(params.w, (Quantization{{1.0F, 2.0F, 4.0F}, {0, 1, 2}}));
  EXPECT_EQ(params.y, (Quantization{{0.25F}, {9}}));
}

TEST(Quantization, ScaleAndZeroPointMayDifferInLength) {
  Parameters p;
  p.w_zero = Tensor::of<std::int8_t>({1}, S8{5});
  OneNode node = conv_with(p);
  ASSERT_TRUE(node.resolve());
  const Quantization w = *params_of<QLinearConvParams>(node.node()).w;
  EXPECT_EQ(w.scale_at(2), 4.0F);
  EXPECT_EQ(w.zero_point_at(2), 5);
}

TEST(Quantization, RunTimeInputsLeaveItOpen) {
  OneNode node("QLinearConv");
  node.input(Tensor(DType::kU8, {1, 1, 2, 2})).input(scalar(1)).constant(Tensor(DType::kU8, {}));
  node.input(Tensor(DType::kS8, {3, 1, 1, 1})).constant(scalar(1)).input(Tensor(DType::kS8, {}));
  node.constant(scalar(1)).constant(Tensor(DType::kU8, {}));
  ASSERT_TRUE(node.resolve());
  const auto& params = params_of<QLinearConvParams>(node.node());
  EXPECT_FALSE(params.x.has_value());
  EXPECT_FALSE(params.w.has_value());
  EXPECT_TRUE(params.y.has_value());
}

TEST(Quantization, TinyScalesAreLegal) {
  Parameters p;
  p.x_scale = scalar(1e-24F);
  EXPECT_EQ(errors_with(p), "");
  p = {};
  p.y_scale = scalar(3e38F);
  EXPECT_EQ(errors_with(p), "");
}

TEST(Quantization, ScalesThatAreNotPositiveAreRefused) {
  for (const auto& [value, text] :
       std::vector<std::pair<float, std::string>>{{0.0F, "0"}, {-0.0F, "-0"}, {-1.0F, "-1"}}) {
    Parameters p;
    p.y_scale = scalar(value);
    EXPECT_EQ(errors_with(p), "E-QUANT: must be finite and > 0, got " + text);
  }
  Parameters p;
  p.y_scale = scalar(kInfinity);
  EXPECT_EQ(
      errors_with(p),
      "E-QUANT: must be finite and > 0, got inf; a constant with -inf, as a mask of attention "
      "has, was quantized: put a number such as -10000 there before, or exclude the node");
  p.y_scale = scalar(std::nanf(""));
  EXPECT_EQ(errors_with(p), "E-QUANT: must be finite and > 0, got nan");
}

TEST(Quantization, OneBadChannelIsNamed) {
  Parameters p;
  p.w_scale = Tensor::of<float>({3}, {1.0F, 0.0F, 1.0F});
  EXPECT_EQ(errors_with(p), "E-QUANT: must be finite and > 0, got 0 at entry 1");
}

TEST(Quantization, ARefusedScaleIsNamed) {
  ModelBuilder model;
  model.input("x", DType::kU8, {1, 1, 2, 2}).initializer("a scale", scalar(0));
  model.initializer("zero", Tensor(DType::kU8, {}))
      .initializer("w", Tensor(DType::kU8, {3, 1, 1, 1}));
  model.initializer("one", scalar(1)).output("y");
  model.node("QLinearConv", {"x", "a scale", "zero", "w", "one", "zero", "one", "zero"}, {"y"});
  Sink sink;
  EXPECT_FALSE(load(model, sink).has_value());
  EXPECT_NE(errors_of(sink).find("error[E-QUANT]: node #0 (QLinearConv) input 1 (x_scale): "
                                 "'a scale' must be finite and > 0, got 0"),
            std::string::npos)
      << errors_of(sink);
}

TEST(Quantization, LengthsMustFit) {
  Parameters p;
  p.w_scale = Tensor::of<float>({2}, {1.0F, 1.0F});
  EXPECT_EQ(errors_with(p), "E-QUANT: shape must be [] or [1] or [3], got [2]");
  p = {};
  p.w_zero = Tensor(DType::kS8, {2});
  EXPECT_EQ(errors_with(p), "E-QUANT: shape must be [] or [1] or [3], got [2]");
  p = {};
  p.x_scale = Tensor(DType::kF32, {0});
  EXPECT_EQ(errors_with(p), "E-QUANT: shape must be [] or [1], got [0]");
  p = {};
  p.x_scale = Tensor::of<float>({1, 1}, {1.0F});
  EXPECT_EQ(errors_with(p), "E-QUANT: shape must be [] or [1], got [1, 1]");
}

TEST(Quantization, TypesMustFit) {
  Parameters p;
  p.x_scale = Tensor(DType::kF64, {});
  EXPECT_EQ(errors_with(p), "E-TYPE: must be float32, got float64");
  p = {};
  p.x_scale = Tensor(DType::kF16, {});
  EXPECT_EQ(errors_with(p), "E-TYPE: must be float32, got float16");
  p = {};
  p.w_zero = Tensor(DType::kU8, {});
  EXPECT_EQ(errors_with(p), "E-TYPE: must have the operand's type int8, got uint8");
}

TEST(CombinedScale, RoundsAfterTheProductAndAfterTheQuotient) {
  // Any other order, and double arithmetic, give the next float, 0x1.5f15f4p-5.
  const Quantization x{{0.1F}, {0}};
  const Quantization w{{0.3F, 1.4F}, {0}};
  const Quantization y{{0.7F}, {0}};
  EXPECT_EQ(combined_scale(x, w, y), (std::vector<float>{0x1.5f15f2p-5F, 0.2F}));
}

TEST(CombinedScale, OverflowAndCollapseAreRefused) {
  Parameters p;
  p.x_scale = scalar(1e38F);
  p.w_scale = scalar(1e38F);
  EXPECT_EQ(errors_with(p),
            "E-QUANT: the combined scale (input scale * weight scale / output scale) must be "
            "finite and > 0 in float32, got inf");
  p.x_scale = scalar(1e-24F);
  p.w_scale = Tensor::of<float>({3}, {1.0F, 1.0F, 1e-24F});
  EXPECT_EQ(errors_with(p),
            "E-QUANT: the combined scale (input scale * weight scale / output scale) must be "
            "finite and > 0 in float32, got 0 for channel 2");
}

}  // namespace
}  // namespace etch
