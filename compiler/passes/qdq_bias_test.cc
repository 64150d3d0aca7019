// Which biases of QDQ groups become integers, and what of them is beyond whole units.
#include "compiler/passes/qdq_bias.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/qdq_model.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::vector<std::int64_t> folded_bias(const QdqConvolution& conv, Sink& sink) {
  const auto graph = conv.qdq.fold(sink);
  if (!graph || graph->nodes.size() != 1) return {};
  return graph->value(graph->nodes[0].inputs.at(8)).constant->integers();
}

TEST(QdqBias, BiasOfTheRightScaleIsTakenAsItIs) {
  QdqConvolution conv;
  conv.bias({0.125F, std::nextafter(0.0625F, 1.0F)});  // x_scale * w_scale, one within an ulp
  conv.qdq.output("y", 1, kZeroS8);
  Sink sink;
  EXPECT_EQ(folded_bias(conv, sink), (std::vector<std::int64_t>{100, -200}));
  EXPECT_EQ(reports_of(sink), "");
}

TEST(QdqBias, BiasOfANearScaleIsRequantizedWithAWarning) {
  QdqConvolution conv;
  conv.bias({0.125F, 0.0625F * 1.005F});
  conv.qdq.output("y", 1, kZeroS8);
  Sink sink;
  EXPECT_EQ(folded_bias(conv, sink), (std::vector<std::int64_t>{100, -201}));
  EXPECT_TRUE(has_report(sink, Severity::kWarning, DiagKind::kQuant));
}

TEST(QdqBias, BiasOfAnotherScaleKeepsTheGroupFloat) {
  QdqConvolution conv;
  conv.bias({0.125F, 0.0625F * 1.02F});
  conv.qdq.output("y", 1, kZeroS8);
  EXPECT_EQ(conv.qdq.operators(),
            "DequantizeLinear DequantizeLinear DequantizeLinear Conv QuantizeLinear");
}

// Scales of powers of two lose nothing in float: integers give the same. Units are 1/8 and 1/16.
TEST(QdqBias, BiasOf8BitsIsTakenWhereAllScalesArePowersOfTwo) {
  const auto bias = [](float scale, float y_scale) {
    QdqConvolution conv;
    conv.qdq.weights("b", s8({2}, {3, -5}), f32({}, {scale}));
    conv.qdq.model().node("Conv", {conv.x, conv.w, "b_float"}, {"y"});
    conv.qdq.output("y", y_scale, kZeroS8);
    Sink sink;
    return folded_bias(conv, sink);
  };
  EXPECT_EQ(bias(0.25F, 4), (std::vector<std::int64_t>{6, -20}));
  EXPECT_TRUE(bias(0.0625F, 4).empty());  // half a unit of channel 0
  EXPECT_TRUE(bias(0.25F, 3).empty());
  EXPECT_TRUE(bias(0.3F, 4).empty());
  EXPECT_TRUE(bias(0.25F, 0x1p31F).empty());  // floats could overflow
}

TEST(QdqBias, IntegersGiveWhatFloatsOfPowersOfTwoGive) {
  QdqConvolution conv;
  conv.qdq.weights("b", s8({2}, {3, -5}), f32({}, {0.25F}));
  conv.qdq.model().node("Conv", {conv.x, conv.w, "b_float"}, {"y"});
  conv.qdq.output("y", 0.25F, kZeroS8);  // every second result of channel 0 is half a step off
  Sink sink;
  const auto floats = load(conv.qdq.model(), sink), integers = conv.qdq.fold(sink);
  ASSERT_TRUE(floats && integers) << errors_of(sink);
  std::vector<std::int8_t> x;
  x.reserve(18);
  for (int i = 0; i < 18; ++i) x.push_back(static_cast<std::int8_t>(i * 29 - 128));
  EXPECT_EQ(evaluate(*integers, {s8({1, 2, 3, 3}, x)}), evaluate(*floats, {s8({1, 2, 3, 3}, x)}));
}

// 2^24 units are the last that every sum before them can be exact in.
TEST(QdqBias, SumsOfPowersOfTwoStayWithinTheBitsOfAFloat) {
  const auto operators = [](std::int32_t bias) {
    QdqConvolution conv;  // weights 1 2, 3 4: at most 7 * 128 in size
    conv.qdq.weights("b", s32({2}, {0, bias}), f32({}, {0.125F}));
    conv.qdq.model().node("Conv", {conv.x, conv.w, "b_float"}, {"y"});
    conv.qdq.output("y", 1, kZeroS8);
    return conv.qdq.operators();
  };
  EXPECT_EQ(operators(((1 << 24) - 2 - 896) / 2), "QLinearConv");
  EXPECT_EQ(operators(((1 << 24) - 896) / 2),
            "DequantizeLinear DequantizeLinear DequantizeLinear Conv QuantizeLinear");
}

TEST(QdqBias, BiasWithAZeroPointIsNoInteger) {
  QdqConvolution conv;
  conv.bias({0.125F, 0.0625F}, s32({2}, {0, 5}));
  conv.qdq.output("y", 1, kZeroS8);
  EXPECT_EQ(conv.qdq.operators(),
            "DequantizeLinear DequantizeLinear DequantizeLinear Conv QuantizeLinear");
}

TEST(QdqBias, FloatBiasIsQuantized) {
  QdqConvolution conv;
  conv.qdq.model().initializer("b", f32({2}, {0.1875F, -1}));  // 1.5 and -16 units
  conv.qdq.model().node("Conv", {conv.x, conv.w, "b"}, {"y"});
  conv.qdq.output("y", 1, kZeroS8);
  Sink sink;
  EXPECT_EQ(folded_bias(conv, sink), (std::vector<std::int64_t>{2, -16}));
}

// Of 16-bit activations a bias is what the file says, in whatever unit: 1.25, -16.5 and 2^-24 off.
TEST(QdqBias, BiasOfA16BitGroupKeepsWhatIsBeyondIntegers) {
  const auto integers = [](const Tensor& bias, const std::vector<float>& scale) {
    QdqConvolution conv(Tensor::of<std::int16_t>({}, {0}));
    if (bias.dtype() == DType::kF32) {
      conv.qdq.model().initializer("b_float", bias);
    } else {
      conv.qdq.weights("b", bias, f32({2}, scale));
    }
    conv.qdq.model().node("Conv", {conv.x, conv.w, "b_float"}, {"y"});
    conv.qdq.output("y", 1, Tensor::of<std::int16_t>({}, {0}));
    Sink sink;
    const auto graph = conv.qdq.fold(sink);
    std::vector<std::vector<std::int64_t>> out;
    const Node& node = graph->nodes.back();
    EXPECT_EQ(node.op_type, "QLinearConv16");
    for (std::size_t i = 8; i < node.inputs.size(); ++i)
      out.push_back(graph->value(node.inputs[i]).constant->integers());
    return out;
  };
  constexpr std::int64_t kHalf = 1 << 30;
  using Rows = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(integers(s32({2}, {100, -200}), {0.125F, 0.0625F}), (Rows{{100, -200}}));
  EXPECT_EQ(integers(f32({2}, {1.25F * 0.125F, -16.5F * 0.0625F}), {}),
            (Rows{{1, -16}, {kHalf / 2, -kHalf}}));
  EXPECT_EQ(integers(s32({2}, {1 << 20, 5}), {std::nextafter(0.125F, 1.0F), 0.0625F}),
            (Rows{{1 << 20, 5}, {1 << 28, 0}}));
  const Tensor wide = Tensor::of<std::int64_t>({2}, {std::int64_t{3} << 40, -7});
  EXPECT_EQ(integers(wide, {0x1p-20F * 0.125F, 0.0625F}), (Rows{{3 << 20, -7}}));
  // Two pieces of 24 bits: 0.4 and 6,710,886.5 units, whose fractions are more than half a unit.
  const Tensor carried = Tensor::of<std::int64_t>({2}, {(1 << 24) + 1, -7});
  EXPECT_EQ(integers(carried, {0.05F, 0.0625F}), (Rows{{6710887, -7}, {-214748352, 0}}));
}

// Why a convolution stays float whose bias `add` puts into the model as "b_float"; the type of the
// activations is that of `zero`.
template <class Add>
std::string fault_of(const Tensor& zero, Add add) {
  QdqConvolution conv(zero);
  add(conv.qdq);
  conv.qdq.model().node("Conv", {conv.x, conv.w, "b_float"}, {"y"});
  conv.qdq.output("y", 1, zero);
  Sink sink;
  auto graph = conv.qdq.fold(sink);
  if (!graph) return errors_of(sink);
  graph->fusions.finish(*graph);
  for (const FusionRecord& record : graph->fusions.records()) {
    if (record.outcome == FusionRecord::Outcome::kMissed) return record.what;
  }
  return "";
}

const Tensor kZeroS16 = Tensor::of<std::int16_t>({}, {0});

TEST(QdqBias, ThatIsKnownAtRunTimeOnlyKeepsTheGroupFloat) {
  const auto add = [](QdqModel& qdq) { qdq.model().input("b_float", DType::kF32, {2}); };
  const std::string why = "the bias is neither a float constant nor from DequantizeLinear";
  EXPECT_EQ(fault_of(kZeroS8, add), why);
  EXPECT_EQ(fault_of(kZeroS16, add), why);
}

TEST(QdqBias, OfIntegersAtRunTimeNeedsItsScaleExactly) {
  const auto add = [](float scale) {
    return [scale](QdqModel& qdq) {
      qdq.model().input("b", DType::kS32, {2});
      qdq.model().initializer("b_scale", f32({2}, {scale, 0.0625F}));
      qdq.model().node("DequantizeLinear", {"b", "b_scale"}, {"b_float"}, {{"axis", 0}});
    };
  };
  EXPECT_EQ(fault_of(kZeroS8, add(0.125F)), "");
  EXPECT_EQ(fault_of(kZeroS8, add(0.125F * 1.005F)),
            "the bias' scale is not input scale * weight scale, and it is no constant");
}

TEST(QdqBias, ThatIsNotFiniteOrLeaves32BitsKeepsTheGroupFloat) {
  const auto add = [](float first) {
    return [first](QdqModel& qdq) { qdq.model().initializer("b_float", f32({2}, {first, 0})); };
  };
  EXPECT_EQ(fault_of(kZeroS8, add(1)), "");
  EXPECT_EQ(fault_of(kZeroS8, add(INFINITY)), "the bias is not finite");
  EXPECT_EQ(fault_of(kZeroS16, add(0.125F * 0x1p31F)), "the bias leaves 32 bits");
  EXPECT_EQ(fault_of(kZeroS16, add(NAN)), "the bias leaves 32 bits");
}

TEST(QdqBias, Of16BitsWithAZeroPointKeepsTheGroupFloat) {
  const auto add = [](QdqModel& qdq) {
    qdq.model().initializer("b", s32({2}, {1, 2})).initializer("b_scale", f32({2}, {1, 1}));
    qdq.model().initializer("b_zero", s32({2}, {0, 5}));
    qdq.model().node("DequantizeLinear", {"b", "b_scale", "b_zero"}, {"b_float"}, {{"axis", 0}});
  };
  EXPECT_EQ(fault_of(kZeroS16, add), "the zero point of the bias is not 0");
}

}  // namespace
}  // namespace etch
