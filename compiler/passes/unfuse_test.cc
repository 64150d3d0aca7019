// Operators that ONNX Runtime's optimizer fused: what they are written as, and what is refused.
// Their results are compared with ONNX Runtime's in tests/recorded/recorded_nodes_test.cc.
#include "compiler/passes/unfuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// A model of one fused node with inputs a, b, c ... of these shapes.
ModelBuilder model_of(const std::string& op, const std::vector<Shape>& shapes,
                      const std::map<std::string, Attribute>& attributes = {},
                      std::int64_t opset = 13) {
  ModelBuilder model(opset);
  model.opset("com.microsoft", 1);
  std::vector<std::string> names;
  for (const Shape& shape : shapes) {
    names.emplace_back(1, static_cast<char>('a' + names.size()));
    model.input(names.back(), DType::kF32, {shape.begin(), shape.end()});
  }
  model.node(op, names, {"y"}, attributes, "com.microsoft").output("y");
  return model;
}

std::string operators(const ModelBuilder& model) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  std::string out;
  if (!graph) return out;
  for (const Node& node : graph->nodes) out += cat(out.empty() ? "" : " ", node.op_type);
  return out;
}

std::string errors(const ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

const std::vector<Shape> kConv{{1, 2, 4, 4}, {3, 2, 3, 3}};

TEST(Unfuse, WritesAConvolutionWithItsSumAndActivation) {
  std::vector<Shape> shapes = kConv;
  shapes.push_back({3});
  shapes.push_back({1, 3, 2, 2});
  EXPECT_EQ(operators(model_of("FusedConv", shapes, {{"activation", std::string("Relu")}})),
            "Conv Add Relu");
  EXPECT_EQ(operators(model_of("FusedConv", kConv)), "Conv");
}

TEST(Unfuse, TellsTheFusionLog) {
  Sink sink;
  const auto graph =
      load(model_of("FusedConv", kConv, {{"activation", std::string("Tanh")}}), sink);
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->fusions.records().size(), 1U);
  EXPECT_EQ(graph->fusions.records()[0].op_type, "FusedConv");
  EXPECT_EQ(graph->fusions.records()[0].what, "is computed as Conv, Tanh");
}

TEST(Unfuse, LimitsAreAttributesInOldOperatorSets) {
  for (const std::int64_t opset : {9, 13}) {
    ModelBuilder model = model_of(
        "FusedConv", {{1, 1, 1}, {1, 1, 1}},
        {{"activation", std::string("Clip")}, {"activation_params", std::vector<float>{0, 0.5F}}},
        opset);
    Sink sink;
    const auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    EXPECT_EQ(evaluate(*graph, {f32({1, 1, 1}, {2}), f32({1, 1, 1}, {3})}).at(0),
              f32({1, 1, 1}, {0.5F}));
  }
}

TEST(Unfuse, WritesProductsOfTransposedMatrices) {
  EXPECT_EQ(operators(model_of("FusedMatMul", {{3, 2}, {3, 4}}, {{"transA", std::int64_t{1}}})),
            "Transpose MatMul");
  EXPECT_EQ(operators(model_of("FusedMatMul", {{2, 3}, {3, 4}}, {{"alpha", 0.5F}})), "MatMul Mul");
}

TEST(Unfuse, PoolsOfChannelsThatComeLastAreMaxPool) {
  ModelBuilder model(13);
  model.opset("com.microsoft", 1).input("x", DType::kU8, {1, 2, 2, 3});
  model.node("NhwcMaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{2, 1}}}, "com.microsoft");
  Sink sink;
  const auto graph = load(model.output("y"), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Tensor x = u8({1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 9, 0, 1, 0, 9, 6});
  EXPECT_EQ(evaluate(*graph, {x}).at(0), u8({1, 1, 2, 3}, {9, 2, 3, 4, 9, 6}));
  EXPECT_NE(errors(model_of("NhwcMaxPool", {{1, 2, 2, 3}})).find("must be uint8, int8"),
            std::string::npos);
}

TEST(Unfuse, WritesGeluWithItsBias) {
  EXPECT_EQ(operators(model_of("BiasGelu", {{2, 3}, {3}})), "Add Gelu");
  EXPECT_EQ(operators(model_of("FastGelu", {{2, 3}})), "Gelu");
}

TEST(Unfuse, TheParametersOfAnActivationAreItsAttributes) {
  const ModelBuilder model =
      model_of("FusedGemm", {{1, 1}, {1, 1}},
               {{"activation", std::string("LeakyRelu")}, {"activation_alpha", 0.25F}});
  EXPECT_EQ(operators(model), "Gemm LeakyRelu");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph);
  EXPECT_EQ(evaluate(*graph, {f32({1, 1}, {2}), f32({1, 1}, {-4})}).at(0), f32({1, 1}, {-2}));
}

TEST(Unfuse, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(errors(model_of("FusedConv", kConv, {{"activation", std::string("Sine")}})),
            "model: error[E-UNSUPPORTED]: node #0 (FusedConv): the activation 'Sine' is not "
            "supported\n");
  EXPECT_EQ(errors(model_of("FusedMatMul", {{2, 3}, {3, 4}}, {{"beta", 0.5F}})),
            "model: error[E-ATTR]: node #0 (FusedMatMul): attribute 'beta' is not known\n");
  EXPECT_EQ(errors(model_of("FusedMatMul", {{2, 3}})),
            "model: error[E-GRAPH]: node #0 (FusedMatMul): input 1 is required, but omitted\n");
  EXPECT_EQ(errors(model_of("FusedMatMul", {{2, 3}, {3, 4}}, {{"transA", 0.5F}})),
            "model: error[E-ATTR]: node #0 (FusedMatMul): attribute 'transA' has a wrong type\n");
}

// Quant of QONNX, of a run-time or a constant x [2, 4], with its scales, zero point and bit width.
struct Quant {
  ModelBuilder model{13};
  Quant(bool constant, float zero, float bits, const std::map<std::string, Attribute>& attributes,
        const Tensor& scale = f32({}, {0.5F}), const Tensor& x = values()) {
    if (constant) {
      model.initializer("x", x);
    } else {
      model.input("x", DType::kF32, {2, 4});
    }
    model.initializer("scale", scale).initializer("zero", f32({}, {zero}));
    model.initializer("bits", f32({}, {bits}));
    model.node("Quant", {"x", "scale", "zero", "bits"}, {"y"}, attributes,
               "qonnx.custom_op.general");
    model.output("y");
  }
  static Tensor values() { return f32({2, 4}, {0.25F, 0.75F, -0.75F, 100, -100, 1, -1, 3.75F}); }
  Tensor output() const {
    Sink sink;
    const auto graph = load(model, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    if (!graph) return {};
    return evaluate(*graph,
                    graph->inputs.empty() ? std::vector<Tensor>{} : std::vector<Tensor>{values()})
        .at(0);
  }
};
using Words = std::map<std::string, Attribute>;
const Words kSigned{{"signed", std::int64_t{1}}}, kUnsigned{{"signed", std::int64_t{0}}};
const Words kNarrow{{"signed", std::int64_t{1}}, {"narrow", std::int64_t{1}}};
const Words kNarrowUnsigned{{"signed", std::int64_t{0}}, {"narrow", std::int64_t{1}}};

TEST(Unfuse, WritesQuantAsQuantizeLinearAndDequantizeLinear) {
  EXPECT_EQ(operators(Quant(false, 0, 8, kSigned).model), "QuantizeLinear DequantizeLinear");
  for (const bool constant : {false, true}) {
    EXPECT_EQ(Quant(constant, 0, 8, kSigned).output(),
              f32({2, 4}, {0, 1, -1, 63.5F, -64, 1, -1, 4}));
    EXPECT_EQ(Quant(constant, 0, 8, kNarrow).output().real(4), -63.5F);
    EXPECT_EQ(Quant(constant, 0, 4, kSigned).output(),
              f32({2, 4}, {0, 1, -1, 3.5F, -4, 1, -1, 3.5F}));
    EXPECT_EQ(Quant(constant, 0, 4, kNarrow).output().real(4), -3.5F);
    EXPECT_EQ(Quant(constant, 0, 2, kUnsigned).output(),
              f32({2, 4}, {0, 1, 0, 1.5F, 0, 1, 0, 1.5F}));
    EXPECT_EQ(Quant(constant, 0, 2, kNarrowUnsigned).output().real(3), 1);
    EXPECT_EQ(Quant(constant, 0, 16, kSigned).output().real(3), 100);
    EXPECT_EQ(Quant(constant, 0, 8, kSigned, f32({2, 1}, {1, 2})).output(),
              f32({2, 4}, {0, 1, -1, 100, -100, 0, 0, 4}));
  }
  EXPECT_EQ(Quant(true, 0, 24, kSigned, f32({}, {0x1p-20F})).output().real(3), 8 - 0x1p-20F);
  // The zero point is added before rounding: 0.5 + 3 and 1.5 + 3 are 4 and 4 again.
  EXPECT_EQ(Quant(true, 3, 8, kUnsigned).output(),
            f32({2, 4}, {0.5F, 0.5F, -0.5F, 100, -1.5F, 1, -1, 3.5F}));
}

TEST(Unfuse, TakesTheRoundingModeOfQuantInAnyCase) {
  for (const char* const mode : {"ROUND", "round", "Half_Even"}) {
    const Quant quant(false, 0, 8, {{"rounding_mode", std::string(mode)}});
    EXPECT_EQ(operators(quant.model), "QuantizeLinear DequantizeLinear") << mode;
  }
}

TEST(Unfuse, TakesIntegersAsZeroPointAndBitWidthOfQuant) {
  ModelBuilder model(9);
  model.input("x", DType::kF32, {2, 4}).initializer("scale", f32({}, {0.5F}));
  model.initializer("zero", s64({}, {0})).initializer("bits", s32({}, {4}));
  model.node("Quant", {"x", "scale", "zero", "bits"}, {"y"}, {}, "finn.custom_op.general");
  Sink sink;
  const auto graph = load(model.output("y"), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(evaluate(*graph, {Quant::values()}).at(0),
            f32({2, 4}, {0, 1, -1, 3.5F, -4, 1, -1, 3.5F}));
}

std::string refusal(const Quant& quant) {
  const std::string all = errors(quant.model);
  const std::string start = "model: error[";
  EXPECT_TRUE(all.starts_with(start)) << all;
  return all.substr(std::min(all.size(), start.size()));
}

TEST(Unfuse, RefusesQuantThatIsNoInteger) {
  EXPECT_EQ(refusal(Quant(false, 1, 8, kSigned)),
            "E-UNSUPPORTED]: node #0 (Quant): input 2 (zeropt): only 0 can be compiled, and of "
            "constants one integer in range\n");
  for (const float bits : {17.0F, 4.5F, 1.0F}) {
    EXPECT_EQ(refusal(Quant(false, 0, bits, kSigned)),
              "E-UNSUPPORTED]: node #0 (Quant): input 3 (bitwidth): only one integer from 2 to 16 "
              "can be compiled\n");
  }
  EXPECT_EQ(refusal(Quant(false, 0, 8, kSigned, f32({2, 4}, std::vector<float>(8, 1)))),
            "E-SHAPE]: node #0 (Quant): input 1 (scale): has the shape [2, 4], must be one, or one "
            "per index of an axis\n");
  EXPECT_EQ(refusal(Quant(false, 0, 8, {{"rounding_mode", std::string("FLOOR")}})),
            "E-UNSUPPORTED]: node #0 (Quant): only the rounding_mode ROUND can be compiled, got "
            "FLOOR\n");
}

TEST(Unfuse, RefusesQuantOfNoNumbers) {
  for (const float scale : {0.0F, -1.0F, INFINITY, NAN}) {
    EXPECT_EQ(refusal(Quant(true, 0, 8, kSigned, f32({}, {scale}))),
              "E-QUANT]: node #0 (Quant): input 1 (scale): must be finite and above 0\n");
  }
  Tensor x = Quant::values();
  x.as<float>()[5] = NAN;
  EXPECT_EQ(refusal(Quant(true, 0, 8, kSigned, f32({}, {0.5F}), x)),
            "E-QUANT]: node #0 (Quant): input 0 (x): element 5 is NaN\n");
}

// BipolarQuant of a run-time or a constant x.
ModelBuilder bipolar(bool constant, const Tensor& x, const Tensor& scale) {
  ModelBuilder model(9);
  if (constant) {
    model.initializer("x", x);
  } else {
    model.input("x", DType::kF32, {x.shape().begin(), x.shape().end()});
  }
  model.initializer("scale", scale);
  model.node("BipolarQuant", {"x", "scale"}, {"y"}, {}, "onnx.brevitas").output("y");
  return model;
}

// Its files do not import the domain.
TEST(Unfuse, WritesBipolarQuantAsSigns) {
  const Tensor x = f32({2, 3}, {0.25F, -0.0F, -1e-30F, NAN, INFINITY, -INFINITY});
  EXPECT_EQ(operators(bipolar(false, x, f32({}, {1}))), "GreaterOrEqual Where DequantizeLinear");
  for (const bool constant : {false, true}) {
    Sink sink;
    const auto graph = load(bipolar(constant, x, f32({2, 1}, {0.5F, 3})), sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    EXPECT_EQ(evaluate(*graph, constant ? std::vector<Tensor>{} : std::vector<Tensor>{x}).at(0),
              f32({2, 3}, {0.5F, 0.5F, -0.5F, -3, 3, -3}));
  }
  EXPECT_EQ(errors(bipolar(false, x, f32({2, 3}, std::vector<float>(6, 1)))),
            "model: error[E-SHAPE]: node #0 (BipolarQuant): input 1 (scale): has the shape [2, 3], "
            "must be one, or one per index of an axis\n");
}

TEST(Unfuse, TakesWhatQonnxDoesNotImport) {
  Quant quant(false, 0, 8, kSigned);
  EXPECT_EQ(quant.output(), f32({2, 4}, {0, 1, -1, 63.5F, -64, 1, -1, 4}));
  ModelBuilder other(9);
  other.input("x", DType::kF32, {2}).node("Trunk", {"x"}, {"y"}, {}, "onnx.brevitas").output("y");
  EXPECT_NE(errors(other).find("the domain onnx.brevitas has no operator 'Trunk'"),
            std::string::npos);
}

// x [1, 2, 1, 3] of NHWC, two filters [2, 2, 1, 3] that read one column and two channels.
TEST(Unfuse, WritesChannelsLastBetweenTranspositions) {
  const std::string domain = "qonnx.custom_op.channels_last";
  ModelBuilder model(13);
  model.input("x", DType::kF32, {1, 2, 1, 3});
  model.initializer("w", f32({2, 2, 1, 3}, {1, 0, 0, 0, 0, 10, 0, 1, 0, 0, 0, 0}));
  model.initializer("b", f32({2}, {0, 100}));
  model.node("Conv", {"x", "w", "b"}, {"c"}, {{"pads", Ints{0, 0, 1, 0}}}, domain);
  model.node("MaxPool", {"c"}, {"y"}, {{"kernel_shape", Ints{2, 1}}}, domain).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  // c: rows (1 + 10 * 6, 2 + 100) and (4, 5 + 100).
  EXPECT_EQ(evaluate(*graph, {f32({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6})}).at(0),
            f32({1, 1, 1, 2}, {61, 105}));
  ModelBuilder flat(13);
  flat.input("x", DType::kF32, {2}).node("MaxPool", {"x"}, {"y"}, {}, domain).output("y");
  EXPECT_EQ(errors(flat),
            "model: error[E-SHAPE]: node #0 (MaxPool): input 0: must have 2 axes or more\n");
}

TEST(Unfuse, RefusesASecondParameterWithoutTheFirst) {
  const std::string found =
      errors(model_of("FusedGemm", {{2, 3}, {3, 4}},
                      {{"activation", std::string("HardSigmoid")}, {"activation_beta", 0.5F}}));
  EXPECT_NE(found.find("E-ATTR"), std::string::npos) << found;
  EXPECT_NE(found.find("activation_beta"), std::string::npos) << found;
}

TEST(Unfuse, RefusesInputsAndOutputsThatNoPartHas) {
  EXPECT_EQ(errors(model_of("FusedMatMul", {{2, 3}, {3, 4}, {2, 4}})),
            "model: error[E-GRAPH]: node #0 (FusedMatMul): must have at most 2 inputs, has 3\n");
  ModelBuilder model(13);
  model.opset("com.microsoft", 1);
  model.input("a", DType::kF32, {2, 2});
  model.node("FusedMatMul", {"a", "a"}, {"y", "z"}, {}, "com.microsoft").output("y").output("z");
  EXPECT_EQ(errors(model),
            "model: error[E-GRAPH]: node #0 (FusedMatMul): must have at most 1 outputs, has 2\n");
}

TEST(Unfuse, TheDomainMustBeImported) {
  ModelBuilder model(13);
  model.input("a", DType::kF32, {2, 2});
  model.node("FusedMatMul", {"a", "a"}, {"y"}, {}, "com.microsoft").output("y");
  EXPECT_EQ(errors(model),
            "model: error[E-VERSION]: node #0 (FusedMatMul): the domain com.microsoft is not "
            "imported\n");
}

}  // namespace
}  // namespace etch
