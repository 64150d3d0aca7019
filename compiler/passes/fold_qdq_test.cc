// Which QDQ groups become integer operators, and which do not.
#include "compiler/passes/fold_qdq.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/qdq_model.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(FoldQdq, ConvBecomesQLinearConv) {
  QdqConvolution conv;
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"});
  conv.qdq.output("y", 1, kZeroS8);
  EXPECT_EQ(conv.qdq.operators(), "QLinearConv");
}

TEST(FoldQdq, WeightsMayBeInt8BesideUint8) {
  QdqConvolution conv(kZeroU8);
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"});
  conv.qdq.output("y", 1, kZeroU8);
  EXPECT_EQ(conv.qdq.operators(), "QLinearConv");
}

// Where of two quantized tensors of type `b_zero`'s and int8, and of a condition.
QdqModel where_model(const Tensor& b_zero) {
  QdqModel qdq;
  qdq.model().input("c", DType::kBool, {2, 1});
  const std::string a = qdq.input("a", {2, 3}, 0.5F, kZeroS8);
  const std::string b = qdq.input("b", {3}, 0.25F, b_zero);
  qdq.model().node("Where", {"c", a, b}, {"y"});
  return qdq;
}

TEST(FoldQdq, WhereOfQuantizedValuesBecomesQLinearWhere) {
  QdqModel qdq = where_model(kZeroS8);
  qdq.output("y", 1, kZeroS8);
  EXPECT_EQ(qdq.operators(), "QLinearWhere");
}

TEST(FoldQdq, WhereOfTwoTypesStaysFloatAndSaysWhy) {
  QdqModel qdq = where_model(kZeroU8);
  qdq.output("y", 1, kZeroS8);
  EXPECT_EQ(qdq.operators(), "DequantizeLinear DequantizeLinear Where QuantizeLinear");
  Sink sink;
  const auto records = qdq.fold(sink)->fusions.records();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].what,
            "input 2 is uint8, needs int8 as input 1 (--qdq all may take both types)");
}

TEST(FoldQdq, ReluAndClipAfterConvBecomeItsLimits) {
  QdqConvolution relu(kZeroU8);
  relu.qdq.model().node("Conv", {relu.x, relu.w}, {"c"}).node("Relu", {"c"}, {"y"});
  relu.qdq.output("y", 1, u8({}, {10}));
  Sink sink;
  const auto limited = relu.qdq.fold(sink);
  ASSERT_EQ(limited->nodes.size(), 1U);
  EXPECT_EQ(limited->nodes[0].domain, "org.etch");
  EXPECT_EQ(std::get<std::int64_t>(limited->nodes[0].attributes.at("clamp_low")), 10);
  EXPECT_EQ(std::get<std::int64_t>(limited->nodes[0].attributes.at("clamp_high")), 255);
  QdqConvolution clip(kZeroS8);
  clip.qdq.model().initializer("low", f32({}, {-1.5F})).initializer("high", f32({}, {6}));
  clip.qdq.model().node("Conv", {clip.x, clip.w}, {"c"});
  clip.qdq.model().node("Clip", {"c", "low", "high"}, {"y"});
  clip.qdq.output("y", 0.5F, s8({}, {-7}));
  const auto clipped = clip.qdq.fold(sink);
  ASSERT_EQ(clipped->nodes.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(clipped->nodes[0].attributes.at("clamp_low")), -10);
  EXPECT_EQ(std::get<std::int64_t>(clipped->nodes[0].attributes.at("clamp_high")), 5);
}

TEST(FoldQdq, ConvWhoseResultIsUsedBesideReluStaysFloat) {
  QdqConvolution conv(kZeroU8);
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"c"}).node("Relu", {"c"}, {"y"}).output("c");
  conv.qdq.output("y", 1, u8({}, {10}));
  EXPECT_EQ(conv.qdq.operators(), "DequantizeLinear DequantizeLinear Conv Relu QuantizeLinear");
}

TEST(FoldQdq, ConvOfMixedTypesStaysFloat) {
  QdqConvolution conv(kZeroU8);
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"});
  conv.qdq.output("y", 1, kZeroS8);
  EXPECT_EQ(conv.qdq.operators(), "DequantizeLinear DequantizeLinear Conv QuantizeLinear");
}

TEST(FoldQdq, WeightsQuantizedAlongInputChannelsStayFloat) {
  QdqConvolution conv(kZeroS8, 1);
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"});
  conv.qdq.output("y", 1, kZeroS8);
  EXPECT_EQ(conv.qdq.operators(), "DequantizeLinear DequantizeLinear Conv QuantizeLinear");
}

// x [1,4,2,2]; w [4,2,1,1] in two groups, scales per channel of a group; all steps exact in float.
TEST(FoldQdq, GroupedConvTransposeBecomesIntegerWithItsScalesRepeated) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 4, 1, 1}, 0.5F, kZeroS8);
  const std::string w =
      qdq.weights("w", s8({4, 2, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}), f32({2}, {0.5F, 0.25F}), 1);
  qdq.model().node("ConvTranspose", {x, w}, {"y"}, {{"group", std::int64_t{2}}});
  qdq.output("y", 0.125F, kZeroS8);
  EXPECT_EQ(qdq.operators(), "QLinearConvTranspose");
  Sink sink;
  const auto folded = qdq.fold(sink);
  const auto unfolded = load(qdq.model(), sink);
  const std::vector<Tensor> input{s8({1, 4, 1, 1}, {1, 2, -3, 4})};
  EXPECT_EQ(evaluate(*folded, input), evaluate(*unfolded, input));
}

TEST(FoldQdq, GroupedConvTransposeHasItsZeroPointsRepeated) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 4, 1, 1}, 0.5F, kZeroS8);
  const std::string w = qdq.weights("w", s8({4, 2, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}),
                                    f32({2}, {0.5F, 0.25F}), 1, s8({2}, {1, -1}));
  qdq.model().node("ConvTranspose", {x, w}, {"y"}, {{"group", std::int64_t{2}}});
  qdq.output("y", 0.125F, kZeroS8);
  EXPECT_EQ(qdq.operators(), "QLinearConvTranspose");
  Sink sink;
  const std::vector<Tensor> input{s8({1, 4, 1, 1}, {1, 2, -3, 4})};
  EXPECT_EQ(evaluate(*qdq.fold(sink), input), evaluate(*load(qdq.model(), sink), input));
}

TEST(FoldQdq, ConvWithoutQuantizeStaysFloat) {
  QdqConvolution conv;
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"}).output("y");
  EXPECT_EQ(conv.qdq.operators(), "DequantizeLinear DequantizeLinear Conv");
}

TEST(FoldQdq, ResultThatIsAlsoAGraphOutputStaysFloat) {
  QdqConvolution conv;
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"}).output("y");
  conv.qdq.output("y", 1, kZeroS8);
  EXPECT_EQ(conv.qdq.operators(), "DequantizeLinear DequantizeLinear Conv QuantizeLinear");
}

TEST(FoldQdq, ReluBeforeAQuantizeThatImpliesItVanishes) {
  QdqConvolution conv;
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"}).node("Relu", {"y"}, {"r"});
  conv.qdq.output("r", 1, s8({}, {-128}));
  EXPECT_EQ(conv.qdq.operators(), "QLinearConv");
}

// The domain of what a convolution with Clip becomes: org.etch's has limits.
std::string clipped(float low, float high) {
  QdqConvolution conv(kZeroU8);
  conv.qdq.model().initializer("low", f32({}, {low})).initializer("high", f32({}, {high}));
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"}).node("Clip", {"y", "low", "high"}, {"c"});
  conv.qdq.output("c", 6.0F / 255, kZeroU8);
  EXPECT_EQ(conv.qdq.operators(), "QLinearConv");
  Sink sink;
  return conv.qdq.fold(sink)->nodes.at(0).domain;
}

TEST(FoldQdq, ClipThatCoversTheQuantizedRangeVanishes) {
  EXPECT_EQ(clipped(0, 6), "");
  EXPECT_EQ(clipped(-1, 7), "");
}

TEST(FoldQdq, ClipThatClipsIsALimit) {
  EXPECT_EQ(clipped(0, 5.9F), "org.etch");
  EXPECT_EQ(clipped(0.1F, 6), "org.etch");
}

TEST(FoldQdq, EqualQuantizesOfOneResultAreMerged) {
  QdqConvolution conv;
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"});
  const std::string a = conv.qdq.quantize("y", 1, kZeroS8);
  const std::string b = conv.qdq.quantize("y", 1, kZeroS8);
  conv.qdq.model().node(
      "Add", {conv.qdq.dequantize(a, 1, kZeroS8), conv.qdq.dequantize(b, 1, kZeroS8)}, {"s"});
  conv.qdq.output("s", 2, kZeroS8);
  EXPECT_EQ(conv.qdq.operators(), "QLinearConv QLinearAdd");
}

TEST(FoldQdq, DifferentQuantizesOfOneResultKeepItFloat) {
  QdqConvolution conv;
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"});
  conv.qdq.output("y", 1, kZeroS8);
  conv.qdq.output("y", 2, kZeroS8);
  EXPECT_EQ(conv.qdq.operators(),
            "DequantizeLinear DequantizeLinear Conv QuantizeLinear QuantizeLinear");
}

TEST(FoldQdq, AnotherScaleThatOnlyTheGraphUsesKeepsTheResultFloat) {
  QdqConvolution conv;
  conv.qdq.model().node("Conv", {conv.x, conv.w}, {"y"});
  conv.qdq.output("y", 1, kZeroS8);
  const std::string again = conv.qdq.dequantize(conv.qdq.quantize("y", 2, kZeroS8), 2, kZeroS8);
  conv.qdq.model().node("Exp", {again}, {"z"}).output("z");
  EXPECT_EQ(conv.qdq.operators().find("QLinearConv"), std::string::npos) << conv.qdq.operators();
}

// One input group: x -> op -> y.
std::string folded_unary(const std::string& op, const Shape& shape,
                         const std::map<std::string, Attribute>& attributes, float y_scale,
                         const Tensor& y_zero, std::int64_t opset = 13) {
  QdqModel qdq(opset);
  qdq.model().node(op, {qdq.input("x", shape, 0.5F, kZeroU8)}, {"y"}, attributes);
  qdq.output("y", y_scale, y_zero);
  return qdq.operators();
}

TEST(FoldQdq, UnaryOperatorsHaveTheirOwn) {
  const std::map<std::string, Attribute> kernel = {{"kernel_shape", Ints{2}}};
  EXPECT_EQ(folded_unary("AveragePool", {1, 1, 4}, kernel, 1, kZeroU8), "QLinearAveragePool");
  EXPECT_EQ(folded_unary("GlobalAveragePool", {1, 1, 4}, {}, 1, kZeroU8),
            "QLinearGlobalAveragePool");
  EXPECT_EQ(folded_unary("Softmax", {1, 4}, {}, 1, kZeroU8), "QLinearSoftmax");
  EXPECT_EQ(folded_unary("Sigmoid", {4}, {}, 1, kZeroU8), "QLinearSigmoid");
  EXPECT_EQ(folded_unary("LeakyRelu", {4}, {}, 1, kZeroU8), "QLinearLeakyRelu");
}

TEST(FoldQdq, UnaryOperatorsOfTwoTypesStayFloat) {
  EXPECT_EQ(folded_unary("Sigmoid", {4}, {}, 1, kZeroS8),
            "DequantizeLinear Sigmoid QuantizeLinear");
}

TEST(FoldQdq, OperatorsWithoutAnIntegerFormStayFloat) {
  EXPECT_EQ(folded_unary("GlobalMaxPool", {1, 1, 4}, {}, 0.5F, kZeroU8),
            "DequantizeLinear GlobalMaxPool QuantizeLinear");
}

TEST(FoldQdq, DilatedAveragePoolStaysFloat) {
  const std::map<std::string, Attribute> dilated = {{"kernel_shape", Ints{2}},
                                                    {"dilations", Ints{2}}};
  EXPECT_EQ(folded_unary("AveragePool", {1, 1, 4}, dilated, 1, kZeroU8, 19),
            "DequantizeLinear AveragePool QuantizeLinear");
  const std::map<std::string, Attribute> dense = {{"kernel_shape", Ints{2}},
                                                  {"dilations", Ints{1}}};
  EXPECT_EQ(folded_unary("AveragePool", {1, 1, 4}, dense, 1, kZeroU8, 19), "QLinearAveragePool");
}

TEST(FoldQdq, GroupThatTheIntegerOperatorRefusesStaysFloat) {
  EXPECT_EQ(folded_unary("GlobalAveragePool", {1, 1, 4}, {}, 1e-4F, kZeroU8),
            "DequantizeLinear GlobalAveragePool QuantizeLinear");
}

TEST(FoldQdq, MaxPoolAndDataMovementWorkOnIntegers) {
  const std::map<std::string, Attribute> kernel = {{"kernel_shape", Ints{2}}};
  EXPECT_EQ(folded_unary("MaxPool", {1, 1, 4}, kernel, 0.5F, kZeroU8), "MaxPool");
  EXPECT_EQ(folded_unary("Transpose", {2, 3}, {}, 0.5F, kZeroU8), "Transpose");
  EXPECT_EQ(folded_unary("Flatten", {2, 3}, {}, 0.5F, kZeroU8), "Flatten");
}

// x [2, 4] times weights [6, 4] with a scale per row, whose transposition comes after
// DequantizeLinear, as in the linear layers of PyTorch.
TEST(FoldQdq, ScalesOfChannelsMoveWithTheirAxis) {
  const Tensor rows =
      s8({6, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0});
  const Tensor scales = f32({6}, {0.25F, 0.5F, 0.75F, 1, 1.25F, 1.5F});
  for (const bool reversed : {false, true}) {
    QdqModel qdq;
    const std::string x = qdq.input("x", {2, 4}, 0.5F, kZeroU8);
    const std::string w = qdq.weights("w", rows, scales, 0);
    std::map<std::string, Attribute> attributes;
    if (!reversed) attributes["perm"] = Ints{1, 0};
    qdq.model().node("Transpose", {w}, {"t"}, attributes).node("MatMul", {x, "t"}, {"y"});
    qdq.output("y", 0.5F, kZeroU8);
    EXPECT_EQ(qdq.operators(), "QLinearMatMul");
    Sink sink;
    const auto graph = qdq.fold(sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    EXPECT_EQ(evaluate(*graph, {u8({2, 4}, {4, 8, 12, 16, 20, 24, 28, 32})}).at(0),
              u8({2, 6}, {1, 4, 9, 16, 5, 12, 5, 12, 21, 32, 25, 36}));
  }
}

TEST(FoldQdq, ScalesOfChannelsMoveToAnyAxis) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 2, 1, 1}, 0.5F, kZeroU8);
  const std::string w =
      qdq.weights("w", s8({1, 2, 3, 1}, {1, 0, 2, 0, 3, 0}), f32({3}, {1, 0.5F, 0.25F}), 2);
  qdq.model().node("Transpose", {w}, {"t"}, {{"perm", Ints{2, 1, 0, 3}}});
  qdq.model().node("Conv", {x, "t"}, {"y"});
  qdq.output("y", 0.5F, kZeroU8);
  EXPECT_EQ(qdq.operators(), "QLinearConv");
  Sink sink;
  const auto graph = qdq.fold(sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  // The filters are (1, 0), (0, 3) and (2, 0).
  EXPECT_EQ(evaluate(*graph, {u8({1, 2, 1, 1}, {8, 16})}).at(0), u8({1, 3, 1, 1}, {8, 24, 4}));
}

// ONNX Runtime computes these in float.
TEST(FoldQdq, ScalesOfChannelsStayBeforeAReshape) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {2, 4}, 0.5F, kZeroU8);
  const std::string w = qdq.weights("w", s8({1, 4, 6}, std::vector<std::int8_t>(24, 1)),
                                    f32({6}, std::vector<float>(6, 0.5F)), 2);
  qdq.model().initializer("shape", s64({2}, {4, 6})).node("Reshape", {w, "shape"}, {"r"});
  qdq.model().node("MatMul", {x, "r"}, {"y"});
  qdq.output("y", 0.5F, kZeroU8);
  const std::string left = qdq.operators();
  EXPECT_NE(left.find("MatMul QuantizeLinear"), std::string::npos) << left;
}

TEST(FoldQdq, GraphOutputKeepsItsName) {
  QdqModel qdq;
  qdq.model().node("Transpose", {qdq.input("x", {2, 3}, 0.5F, kZeroU8)}, {"y"});
  qdq.model().node("Identity", {qdq.quantize("y", 0.5F, kZeroU8)}, {"result"}).output("result");
  Sink sink;
  const auto graph = qdq.fold(sink);
  ASSERT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(graph->value(graph->outputs.at(0)).name, "result");
}

TEST(FoldQdq, PairBetweenInputAndOutputStays) {
  QdqModel qdq;
  qdq.output(qdq.input("x", {4}, 0.5F, kZeroU8), 0.5F, kZeroU8);
  EXPECT_EQ(qdq.operators(), "DequantizeLinear QuantizeLinear");
}

TEST(FoldQdq, MaxPoolTakesNoIntegersBeforeOpset12) {
  const std::map<std::string, Attribute> kernel = {{"kernel_shape", Ints{2}}};
  EXPECT_EQ(folded_unary("MaxPool", {1, 1, 4}, kernel, 0.5F, kZeroU8, 11),
            "DequantizeLinear MaxPool QuantizeLinear");
}

TEST(FoldQdq, DataMovementBetweenDifferentParametersLeavesThePair) {
  EXPECT_EQ(folded_unary("Transpose", {2, 3}, {}, 1, kZeroU8),
            "Transpose DequantizeLinear QuantizeLinear");
}

TEST(FoldQdq, CopiesBetweenQuantizeAndDequantizeVanish) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 4}, 0.5F, kZeroU8);
  qdq.model().node("Sigmoid", {x}, {"y"});
  const std::string q = qdq.quantize("y", 1, kZeroU8);
  qdq.model().node("Cast", {q}, {"c"}, {{"to", std::int64_t{2}}}).node("Identity", {"c"}, {"i"});
  qdq.model().node("Sigmoid", {qdq.dequantize("i", 1, kZeroU8)}, {"z"});
  qdq.output("z", 1, kZeroU8);
  EXPECT_EQ(qdq.operators(), "QLinearSigmoid QLinearSigmoid");
}

TEST(FoldQdq, EqualPairCancelsAndUnequalPairStays) {
  const auto pair = [](float scale) {
    QdqModel qdq;
    const std::string x = qdq.input("x", {4}, 0.5F, kZeroU8);
    const std::string again = qdq.quantize(x, scale, kZeroU8);
    qdq.model().node("Sigmoid", {qdq.dequantize(again, scale, kZeroU8)}, {"y"});
    qdq.output("y", 1, kZeroU8);
    return qdq.operators();
  };
  EXPECT_EQ(pair(0.5F), "QLinearSigmoid");
  EXPECT_EQ(pair(0.25F), "DequantizeLinear QuantizeLinear QLinearSigmoid");
}

std::string folded_binary(const std::string& op, const std::map<std::string, Attribute>& attributes,
                          const Tensor& b_zero, float b_scale = 0.25F) {
  QdqModel qdq;
  const std::string a = qdq.input("a", {2, 2}, 0.5F, kZeroU8);
  const std::string b = qdq.input("b", {2, 2}, b_scale, b_zero);
  qdq.model().node(op, {a, b}, {"y"}, attributes);
  qdq.output("y", 0.5F, kZeroU8);
  return qdq.operators();
}

TEST(FoldQdq, BinaryOperatorsHaveTheirOwn) {
  EXPECT_EQ(folded_binary("Add", {}, kZeroU8), "QLinearAdd");
  EXPECT_EQ(folded_binary("Mul", {}, kZeroU8), "QLinearMul");
  EXPECT_EQ(folded_binary("Sub", {}, kZeroU8),
            "DequantizeLinear DequantizeLinear Sub QuantizeLinear");
}

TEST(FoldQdq, BinaryOperatorsOfTwoTypesStayFloat) {
  EXPECT_EQ(folded_binary("Add", {}, kZeroS8),
            "DequantizeLinear DequantizeLinear Add QuantizeLinear");
}

TEST(FoldQdq, ConcatOfEqualParametersIsPlain) {
  const std::map<std::string, Attribute> axis = {{"axis", std::int64_t{0}}};
  EXPECT_EQ(folded_binary("Concat", axis, kZeroU8, 0.5F), "Concat");
  EXPECT_EQ(folded_binary("Concat", axis, kZeroU8, 0.25F), "QLinearConcat");
}

TEST(FoldQdq, MatMulBecomesQLinearMatMul) {
  EXPECT_EQ(folded_binary("MatMul", {}, kZeroU8), "QLinearMatMul");
  EXPECT_EQ(folded_binary("MatMul", {}, kZeroS8), "QLinearMatMul");
}

TEST(FoldQdq, MatMulWithoutQuantizeGivesFloatFromIntegers) {
  QdqModel qdq;
  const std::string a = qdq.input("a", {1, 2}, 0.5F, kZeroU8);
  const std::string b = qdq.input("b", {2, 1}, 0.25F, kZeroU8);
  qdq.model().node("MatMul", {a, b}, {"y"}).output("y");
  EXPECT_EQ(qdq.operators(), "QGemm");
  Sink sink;
  const auto graph = qdq.fold(sink);
  EXPECT_EQ(evaluate(*graph, {u8({1, 2}, {2, 3}), u8({2, 1}, {10, 100})}).at(0), f32({1, 1}, {40}));
}

// Of batches, as ONNX Runtime computes them: the sum in integers, scaled in float.
TEST(FoldQdq, BatchesWithoutQuantizeGiveFloatFromIntegers) {
  QdqModel qdq;
  const std::string a = qdq.input("a", {2, 1, 2}, 0.5F, kZeroU8);
  const std::string b = qdq.input("b", {2, 1}, 0.25F, kZeroU8);
  qdq.model().node("MatMul", {a, b}, {"y"}).output("y");
  EXPECT_EQ(qdq.operators(), "MatMulIntegerToFloat");
  Sink sink;
  const auto graph = qdq.fold(sink);
  EXPECT_EQ(evaluate(*graph, {u8({2, 1, 2}, {2, 3, 0, 1}), u8({2, 1}, {10, 100})}).at(0),
            f32({2, 1, 1}, {40, 12.5F}));
}

std::string folded_gemm(std::int64_t weight_axis, std::int64_t transposed, bool quantized,
                        bool float_bias) {
  QdqModel qdq;
  const std::string a = qdq.input("a", {1, 2}, 0.5F, kZeroS8);
  const std::string b =
      qdq.weights("b", s8({2, 2}, {1, 2, 3, 4}), f32({2}, {0.5F, 0.25F}), weight_axis);
  std::string c = "c";
  if (float_bias) {
    qdq.model().initializer("c", f32({2}, {1, 2}));
  } else {
    c = qdq.weights("c", s32({2}, {1, 2}), f32({2}, {0.25F, 0.125F}));
  }
  qdq.model().node("Gemm", {a, b, c}, {"y"}, {{"transB", transposed}});
  if (quantized) {
    qdq.output("y", 1, kZeroS8);
  } else {
    qdq.model().output("y");
  }
  return qdq.operators();
}

TEST(FoldQdq, GemmBecomesQGemmWithAndWithoutQuantize) {
  EXPECT_EQ(folded_gemm(0, 1, true, false), "QGemm");
  EXPECT_EQ(folded_gemm(1, 0, true, false), "QGemm");
  EXPECT_EQ(folded_gemm(0, 1, false, false), "QGemm");
  EXPECT_EQ(folded_gemm(0, 1, true, true), "QGemm");
}

TEST(FoldQdq, GemmWithWeightsQuantizedAlongTheSumStaysFloat) {
  const std::string kept = "DequantizeLinear DequantizeLinear DequantizeLinear Gemm QuantizeLinear";
  EXPECT_EQ(folded_gemm(1, 1, true, false), kept);
  EXPECT_EQ(folded_gemm(0, 0, true, false), kept);
}

TEST(FoldQdq, FloatBiasIsOnlyQuantizedBeforeAQuantize) {
  EXPECT_EQ(folded_gemm(0, 1, false, true), "DequantizeLinear DequantizeLinear Gemm");
}

TEST(FoldQdq, OneDequantizeMayServeSeveralGroups) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {1, 2}, 0.5F, kZeroU8);
  qdq.model().node("Sigmoid", {x}, {"y"}).node("Add", {x, x}, {"z"});
  qdq.output("y", 1, kZeroU8);
  qdq.output("z", 1, kZeroU8);
  EXPECT_EQ(qdq.operators(), "QLinearSigmoid QLinearAdd");
}

TEST(FoldQdq, QuantizeWithoutZeroPointIsUint8) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {2}, 0.5F, kZeroU8);
  qdq.model().node("Sigmoid", {x}, {"y"}).initializer("s", f32({}, {1}));
  qdq.model().node("QuantizeLinear", {"y", "s"}, {"q"}).output("q");
  EXPECT_EQ(qdq.operators(), "QLinearSigmoid");
}

TEST(FoldQdq, PairsOfOtherZeroPointsStay) {
  QdqModel qdq;
  const std::string x = qdq.input("x", {2, 3}, 0.5F, u8({}, {3}));
  qdq.model().node("Transpose", {qdq.quantize(x, 0.5F, u8({}, {5}))}, {"y"}).output("y");
  EXPECT_EQ(qdq.operators(), "DequantizeLinear QuantizeLinear Transpose");
}

// The first channel is quantized as the whole is afterwards, and could do without the limit.
TEST(FoldQdq, WhatIsQuantizedByChannelIsNotJudgedByTheFirst) {
  for (const bool limited : {false, true}) {
    QdqModel qdq;
    qdq.model().input("x", DType::kU8, {2, 2});
    qdq.model().initializer("s", f32({2}, {0.5F, 0.25F})).initializer("z", u8({2}, {0, 9}));
    qdq.model().node("DequantizeLinear", {"x", "s", "z"}, {"f"});
    if (limited) qdq.model().node("Relu", {"f"}, {"r"});
    const std::uint8_t zero = limited ? 1 : 0;
    const std::string q = qdq.quantize(limited ? "r" : "f", 0.5F, u8({}, {zero}));
    qdq.model().node("Transpose", {q}, {"y"}).output("y");
    EXPECT_EQ(qdq.operators(), limited ? "DequantizeLinear Relu QuantizeLinear Transpose"
                                       : "DequantizeLinear QuantizeLinear Transpose");
  }
}

}  // namespace
}  // namespace etch
