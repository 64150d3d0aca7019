// Pads that convolutions and poolings take over, and those that they must not.
#include "compiler/passes/fold_pad.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "compiler/ir/dead_code.h"
#include "compiler/passes/fold_qdq.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Attributes = std::map<std::string, Attribute>;

// A Pad of `x` [1, 2, 4, 4] in front of what a test adds.
struct Padded {
  ModelBuilder model{13};

  explicit Padded(DType type, const Tensor& value, const Ints& pads = {0, 0, 1, 2, 0, 0, 0, 1}) {
    model.opset("com.microsoft", 1);
    model.input("x", type, {1, 2, 4, 4});
    model.initializer("pads", s64({8}, pads)).initializer("value", value);
    model.node("Pad", {"x", "pads", "value"}, {"p"});
    model.initializer("scale", f32({}, {0.5F})).initializer("zero", u8({}, {7}));
    model.initializer("w", u8({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  }
  Padded& conv(const Attributes& attributes = {}) {
    model.node("QLinearConv", {"p", "scale", "zero", "w", "scale", "zero", "scale", "zero"}, {"y"},
               attributes);
    return *this;
  }

  // Whether a Pad is left behind the passes.
  bool keeps_pad() {
    model.output("y");
    Sink sink;
    auto graph = load(model, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    if (!graph) return false;
    fold_qdq(*graph, sink);
    fold_pads(*graph);
    remove_dead(*graph);
    verify(*graph, Resolved::kYes);
    return std::any_of(graph->nodes.begin(), graph->nodes.end(),
                       [](const Node& node) { return node.op_type == "Pad"; });
  }
};

TEST(FoldPad, ConvolutionsTakePadsWithTheirZeroPoint) {
  EXPECT_FALSE(Padded(DType::kU8, u8({}, {7})).conv().keeps_pad());
  EXPECT_FALSE(Padded(DType::kU8, u8({}, {7}))
                   .conv({{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}})
                   .keeps_pad());
  EXPECT_TRUE(Padded(DType::kU8, u8({}, {8})).conv().keeps_pad());
}

TEST(FoldPad, OnlySpatialAxesCount) {
  EXPECT_TRUE(Padded(DType::kU8, u8({}, {7}), {1, 0, 0, 0, 0, 0, 1, 1}).conv().keeps_pad());
  EXPECT_TRUE(Padded(DType::kU8, u8({}, {7}), {0, 0, -1, 0, 0, 0, 1, 1}).conv().keeps_pad());
}

TEST(FoldPad, AutomaticPaddingStays) {
  const Attributes same{{"auto_pad", std::string("SAME_UPPER")}};
  EXPECT_TRUE(Padded(DType::kU8, u8({}, {7})).conv(same).keeps_pad());
  const Attributes valid{{"auto_pad", std::string("VALID")}};
  EXPECT_FALSE(Padded(DType::kU8, u8({}, {7})).conv(valid).keeps_pad());
}

TEST(FoldPad, OtherReadersKeepThePad) {
  Padded two(DType::kU8, u8({}, {7}));
  two.conv().model.output("p");
  EXPECT_TRUE(two.keeps_pad());
}

TEST(FoldPad, PoolingsTakeWhatCannotCount) {
  const Attributes pool{{"kernel_shape", Ints{3, 3}}};
  Padded least(DType::kU8, u8({}, {0}));
  least.model.node("MaxPool", {"p"}, {"y"}, pool);
  EXPECT_FALSE(least.keeps_pad());
  Padded more(DType::kU8, u8({}, {1}));
  more.model.node("MaxPool", {"p"}, {"y"}, pool);
  EXPECT_TRUE(more.keeps_pad());
  Padded average(DType::kU8, u8({}, {7}));
  average.model.node("QLinearAveragePool", {"p", "scale", "zero", "scale", "zero"}, {"y"}, pool,
                     "com.microsoft");
  EXPECT_FALSE(average.keeps_pad());
  Padded uncounted(DType::kU8, u8({}, {7}));
  uncounted.model.node("QLinearAveragePool", {"p", "scale", "zero", "scale", "zero"}, {"y"},
                       {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}, "com.microsoft");
  EXPECT_TRUE(uncounted.keeps_pad());
}

// Padding that would count twice, or not at all, stays where it is.
TEST(FoldPad, AveragesThatCountOtherwiseKeepThePad) {
  const auto keeps = [](Attributes attributes, Ints kernel) {
    attributes["kernel_shape"] = std::move(kernel);
    Padded bytes(DType::kU8, u8({}, {7})), floats(DType::kF32, f32({}, {0}));
    bytes.model.node("QLinearAveragePool", {"p", "scale", "zero", "scale", "zero"}, {"y"},
                     attributes, "com.microsoft");
    floats.model.node("AveragePool", {"p"}, {"y"}, attributes);
    const bool kept = bytes.keeps_pad();
    EXPECT_EQ(floats.keeps_pad(), kept);
    return kept;
  };
  const Ints pads{1, 1, 1, 1};
  EXPECT_FALSE(keeps({}, {4, 5}));
  EXPECT_TRUE(keeps({{"pads", pads}}, {4, 5}));
  EXPECT_FALSE(keeps({{"pads", pads}, {"count_include_pad", std::int64_t{1}}}, {4, 5}));
  EXPECT_TRUE(keeps({{"ceil_mode", std::int64_t{1}}}, {4, 5}));
  EXPECT_TRUE(keeps({}, {5, 7}));  // one window covers everything
}

TEST(FoldPad, MaximaTakeTheLeastValueAloneAndNotWhereSizesAreRoundedUp) {
  const Attributes pool{{"kernel_shape", Ints{3, 4}}};
  Padded least(DType::kF32, f32({}, {-INFINITY}));
  least.model.node("MaxPool", {"p"}, {"y"}, pool);
  EXPECT_FALSE(least.keeps_pad());
  Padded rounded(DType::kF32, f32({}, {-INFINITY}));
  rounded.model.node("MaxPool", {"p"}, {"y"},
                     {{"kernel_shape", Ints{3, 4}}, {"ceil_mode", std::int64_t{1}}});
  EXPECT_TRUE(rounded.keeps_pad());
}

TEST(FoldPad, ConvolutionsOfFloatsTakeZerosAlone) {
  for (const float value : {0.0F, 1.0F}) {
    Padded padded(DType::kF32, f32({}, {value}));
    padded.model.initializer("wf", f32({1, 2, 1, 1}, {1, 2}));
    padded.model.node("Conv", {"p", "wf"}, {"y"});
    EXPECT_EQ(padded.keeps_pad(), value != 0);
  }
}

// A zero point that is left out before another one is 0.
TEST(FoldPad, AZeroPointThatIsLeftOutIsZero) {
  for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{7}}) {
    Padded padded(DType::kU8, u8({}, {value}));
    padded.model.node("ConvInteger", {"p", "w", "", "zero"}, {"y"});
    EXPECT_EQ(padded.keeps_pad(), value != 0);
  }
}

// 0 times infinity is no number, and a convolution that pads by itself does not multiply.
TEST(FoldPad, FloatConvolutionsTakeZerosOnlyBesideFiniteWeights) {
  for (const float weight : {2.0F, INFINITY}) {
    Padded padded(DType::kF32, f32({}, {0}));
    padded.model.initializer("wf", f32({1, 2, 1, 1}, {1, weight}));
    padded.model.node("Conv", {"p", "wf"}, {"y"});
    EXPECT_EQ(padded.keeps_pad(), weight == INFINITY);
  }
  Padded late(DType::kF32, f32({}, {0}));
  late.model.input("wf", DType::kF32, {1, 2, 1, 1});
  late.model.node("Conv", {"p", "wf"}, {"y"});
  EXPECT_TRUE(late.keeps_pad());
}

// Zeros beside values in a range so small that the scale is 0 are not quantized to the zero point.
TEST(FoldPad, DynamicallyQuantizedConvolutionsKeepThePad) {
  Padded floats(DType::kF32, f32({}, {0}));
  floats.model.node("DynamicQuantizeLinear", {"p"}, {"q", "q_scale", "q_zero"});
  floats.model.node("ConvInteger", {"q", "w", "q_zero"}, {"y"}, {{"pads", Ints{0, 1, 0, 1}}});
  EXPECT_TRUE(floats.keeps_pad());
}

// Pad(DQ(x)) becomes DQ(Pad(x)) where an integer stands for the value, and then is taken over.
TEST(FoldPad, MovesBeforeDequantizeLinear) {
  for (const float value : {0.0F, 0.3F}) {
    ModelBuilder model(13);
    model.input("x", DType::kU8, {1, 2, 4, 4});
    model.initializer("scale", f32({}, {0.5F})).initializer("zero", u8({}, {7}));
    model.initializer("pads", s64({8}, {0, 0, 1, 1, 0, 0, 1, 1}));
    model.initializer("value", f32({}, {value}));
    model.initializer("w", u8({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
    model.node("DequantizeLinear", {"x", "scale", "zero"}, {"xf"});
    model.node("DequantizeLinear", {"w", "scale", "zero"}, {"wf"});
    model.node("Pad", {"xf", "pads", "value"}, {"p"});
    model.node("Conv", {"p", "wf"}, {"yf"});
    model.node("QuantizeLinear", {"yf", "scale", "zero"}, {"y"}).output("y");
    Sink sink;
    auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    fold_qdq(*graph, sink);
    fold_pads(*graph);
    remove_dead(*graph);
    const bool folded = graph->nodes.size() == 1 && graph->nodes[0].op_type == "QLinearConv";
    EXPECT_EQ(folded, value == 0.0F) << dump(*graph);
  }
}

}  // namespace
}  // namespace etch
