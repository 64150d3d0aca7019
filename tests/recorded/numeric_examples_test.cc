// The worked examples of the operators' own documentation, by name: ONNX's QLinearConv over 7x7
// values and ConvInteger without and with padding, TensorFlow's QuantizeV2 with the ranges [0, 6]
// and [-10, 9.921875]. Each in a whole model: reference functions, Native stage and compiled code
// of every instruction set.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ops/quantize_v2/range.h"
#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

struct Example {
  Case model;
  std::vector<Tensor> expected;
};

void expect_natively(const Example& example) {
  EXPECT_EQ(difference_of(reference_outputs(example.model), example.expected), "");
  for (const IsaTraits* const isa : all_targets()) {
    for (const RequantizeMode requantize : {RequantizeMode::kFloat, RequantizeMode::kInteger}) {
      const auto program = compiled(example.model, isa->name, requantize);
      ASSERT_NE(program, nullptr);
      const std::vector<Tensor> outputs = native_outputs(*program, example.model.inputs);
      EXPECT_EQ(difference_of(outputs, example.expected), "") << isa->name;
    }
  }
}

Example qlinear_conv_7x7() {
  const std::vector<std::uint8_t> x{255, 174, 162, 25,  203, 168, 58,  15,  59,  237, 95,  129, 0,
                                    64,  56,  242, 153, 221, 168, 12,  166, 232, 178, 186, 195, 237,
                                    162, 237, 188, 39,  124, 77,  80,  102, 43,  127, 230, 21,  83,
                                    41,  40,  134, 255, 154, 92,  141, 42,  148, 247};
  const std::vector<std::uint8_t> y{0,   81,  93,  230, 52,  87,  197, 240, 196, 18,  160, 126, 255,
                                    191, 199, 13,  102, 34,  87,  243, 89,  23,  77,  69,  60,  18,
                                    93,  18,  67,  216, 131, 178, 175, 153, 212, 128, 25,  234, 172,
                                    214, 215, 121, 0,   101, 163, 114, 213, 107, 8};
  ModelBuilder model(10);
  model.input("x", DType::kU8, {1, 1, 7, 7});
  model.initializer("x_scale", f32({}, {0.00369204697F})).initializer("x_zero", u8({}, {132}));
  model.initializer("w", u8({1, 1, 1, 1}, {0})).initializer("w_scale", f32({1}, {0.00172794575F}));
  model.initializer("w_zero", u8({1}, {255})).initializer("y_scale", f32({}, {0.00162681262F}));
  model.initializer("y_zero", u8({}, {123}));
  model.node("QLinearConv",
             {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"}, {"y"});
  model.output("y");
  return {{"QLinearConv over 7x7", model.bytes(), {u8({1, 1, 7, 7}, x)}}, {u8({1, 1, 7, 7}, y)}};
}

TEST(NumericExamples, OnnxQLinearConvOver7x7) { expect_natively(qlinear_conv_7x7()); }

Example conv_integer(const Ints& pads, const Tensor& expected) {
  ModelBuilder model(10);
  model.input("x", DType::kU8, {1, 1, 3, 3});
  model.initializer("w", u8({1, 1, 2, 2}, {1, 1, 1, 1})).initializer("x_zero", u8({}, {1}));
  model.node("ConvInteger", {"x", "w", "x_zero"}, {"y"}, {{"pads", pads}}).output("y");
  const Tensor x = u8({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10});
  return {{"ConvInteger", model.bytes(), {x}}, {expected}};
}

Example conv_integer_without_padding() {
  return conv_integer({0, 0, 0, 0}, s32({1, 1, 2, 2}, {12, 16, 24, 28}));
}
Example conv_integer_with_padding() {
  const std::vector<std::int32_t> y{1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9};
  return conv_integer({1, 1, 1, 1}, s32({1, 1, 4, 4}, y));
}

TEST(NumericExamples, OnnxConvIntegerWithoutPadding) {
  expect_natively(conv_integer_without_padding());
}
TEST(NumericExamples, OnnxConvIntegerWithPadding) { expect_natively(conv_integer_with_padding()); }

Example quantize_v2(const std::string& mode, float min, float max, const std::vector<float>& x,
                    const Tensor& y, float low, float high) {
  const std::string type(tensorflow_name(y.dtype()));
  ModelBuilder model;
  model.opset("org.tensorflow", 1);
  const Shape shape{static_cast<std::int64_t>(x.size())};
  model.input("x", DType::kF32, {shape[0]});
  model.initializer("min", f32({}, {min})).initializer("max", f32({}, {max}));
  model.node("QuantizeV2", {"x", "min", "max"}, {"y", "low", "high"}, {{"mode", mode}, {"T", type}},
             "org.tensorflow");
  model.output("y").output("low").output("high");
  return {{mode + " " + type, model.bytes(), {f32(shape, x)}},
          {y, f32({}, {low}), f32({}, {high})}};
}

// "will multiply each value of the input by 255/6 and cast to quint8"; for qint8 it also subtracts
// 128 before the cast.
std::vector<Example> range_0_to_6() {
  const std::vector<float> x{0, 0.01F, 0.012F, 1, 3, 6, 7};
  const Tensor is_unsigned = u8({7}, {0, 0, 1, 43, 128, 255, 255});
  const Tensor is_signed = s8({7}, {-128, -128, -127, -86, -1, 127, 127});
  return {quantize_v2("MIN_COMBINED", 0, 6, x, is_unsigned, 0, 6),
          quantize_v2("MIN_COMBINED", 0, 6, x, is_signed, 0, 6)};
}

TEST(NumericExamples, TensorFlowRange0To6) {
  for (const Example& each : range_0_to_6()) expect_natively(each);
}

// [-10, 5] becomes [-10, 9.921875], so that 0 is exact and a step is 10/128.
std::vector<Example> range_minus_10_to_9_921875() {
  const std::vector<float> x{-10, -5, 0, 5, 9.921875F, 20};
  const Tensor y = s8({6}, {-128, -64, 0, 64, 127, 127});
  return {quantize_v2("SCALED", -10, 5, x, y, -10, 9.921875F),
          quantize_v2("SCALED", -10, 9.921875F, x, y, -10, 9.921875F)};
}

TEST(NumericExamples, TensorFlowRangeMinus10To9_921875) {
  for (const Example& each : range_minus_10_to_9_921875()) expect_natively(each);
}

class NumericExamplesCompiled : public testing::TestWithParam<const IsaTraits*> {};

TEST_P(NumericExamplesCompiled, AllOfThem) {
  if (const std::string why = why_not_here(*GetParam()); !why.empty()) GTEST_SKIP() << why;
  std::vector<Example> examples{qlinear_conv_7x7(), conv_integer_without_padding(),
                                conv_integer_with_padding()};
  for (const auto& more : {range_0_to_6(), range_minus_10_to_9_921875()})
    examples.insert(examples.end(), more.begin(), more.end());
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const RequantizeMode requantize : {RequantizeMode::kFloat, RequantizeMode::kInteger}) {
    for (const Example& example : examples) {
      programs.push_back(compiled(example.model, GetParam()->name, requantize));
      ASSERT_NE(programs.back(), nullptr);
      entries.push_back({programs.back().get(), &example.model.inputs});
    }
  }
  const auto outputs = run_generated(entries, *GetParam());
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Example& example = examples[i % examples.size()];
    EXPECT_EQ(difference_of((*outputs)[i], example.expected), "") << example.model.name;
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryTarget, NumericExamplesCompiled,
                         testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

}  // namespace
}  // namespace etch
