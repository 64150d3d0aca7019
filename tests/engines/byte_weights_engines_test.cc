// Products of one or two rows with so many weights that they stay bytes in memory where others are
// words: the reference, the steps under the Native stage and compiled code agree, and sizes, kinds
// of weights and rows decide as they should.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

struct Sizes {
  std::int64_t rows, depth, cols;
};
constexpr Sizes kOneRow{1, 181, 190}, kTwoRows{2, 513, 512};  // rests of K, of blocks and lanes

std::string name_of(const char* kind, const Sizes& s) {
  return cat(kind, " ", s.rows, "x", s.depth, "x", s.cols);
}

Case integer_product(const Sizes& s, DType type, int zero_point) {
  Dice dice(3);
  ModelBuilder model;
  model.input("a", DType::kU8, {s.rows, s.depth});
  model.initializer("b", random_bytes(dice, type, {s.depth, s.cols}));
  model.initializer("a_zero", u8({}, {119}));
  model.initializer("b_zero", type == DType::kU8 ? u8({}, {static_cast<std::uint8_t>(zero_point)})
                                                 : s8({}, {static_cast<std::int8_t>(zero_point)}));
  model.node("MatMulInteger", {"a", "b", "a_zero", "b_zero"}, {"y"}).output("y");
  return {name_of("MatMulInteger", s),
          model.bytes(),
          {random_bytes(dice, DType::kU8, {s.rows, s.depth})}};
}

// Weights minus their zero points take 9 bits, whatever is taken from all of them.
Case product_of_two_zero_points(const Sizes& s) {
  Dice dice(11);
  ModelBuilder model;
  Tensor zeros(DType::kU8, {s.cols});
  for (std::int64_t i = 0; i < s.cols; i += 2)
    zeros.mutable_bytes()[static_cast<std::size_t>(i)] = std::byte{128};
  model.input("a", DType::kU8, {s.rows, s.depth});
  model.initializer("b", random_bytes(dice, DType::kU8, {s.depth, s.cols}));
  model.initializer("a_zero", u8({}, {119})).initializer("b_zero", zeros);
  model.node("MatMulInteger", {"a", "b", "a_zero", "b_zero"}, {"y"}).output("y");
  return {name_of("two zero points", s),
          model.bytes(),
          {random_bytes(dice, DType::kU8, {s.rows, s.depth})}};
}

// Sums start from a zero point of run time.
Case dynamic_product(const Sizes& s, DType type = DType::kS8) {
  Dice dice(5);
  ModelBuilder model;
  model.input("x", DType::kF32, {s.rows, s.depth});
  model.initializer("b", random_bytes(dice, type, {s.depth, s.cols}));
  model.initializer("b_zero", type == DType::kU8 ? u8({}, {29}) : s8({}, {0}));
  model.node("DynamicQuantizeLinear", {"x"}, {"a", "a_scale", "a_zero"});
  model.node("MatMulInteger", {"a", "b", "a_zero", "b_zero"}, {"y"}).output("y").output("a_scale");
  Tensor x(DType::kF32, {s.rows, s.depth});
  for (float& each : x.as<float>()) each = static_cast<float>(dice.between(-700, 1000)) * 0.01F;
  return {name_of("dynamic", s), model.bytes(), {x}};
}

Case requantized_product(const Sizes& s) {
  Dice dice(7);
  ModelBuilder model;
  model.input("a", DType::kS8, {s.rows, s.depth});
  model.initializer("b", random_bytes(dice, DType::kS8, {s.depth, s.cols}));
  model.initializer("one", f32({}, {1})).initializer("zero", s8({}, {-3}));
  model.initializer("b_zero", s8({}, {0})).initializer("y_scale", f32({}, {700}));
  model.node("QLinearMatMul", {"a", "one", "zero", "b", "one", "b_zero", "y_scale", "zero"}, {"y"});
  model.output("y");
  return {name_of("QLinearMatMul", s),
          model.bytes(),
          {random_bytes(dice, DType::kS8, {s.rows, s.depth})}};
}

// The product of a state of 91 in each of two steps.
Case recurrent_layer() {
  constexpr std::int64_t kHidden = 91, kGates = 4 * kHidden, kIn = 5;
  Dice dice(9);
  ModelBuilder model(14);
  model.opset("com.microsoft", 1).input("x", DType::kF32, {2, 1, kIn});
  model.initializer("w", random_bytes(dice, DType::kS8, {1, kIn, kGates}));
  model.initializer("r", random_bytes(dice, DType::kS8, {1, kHidden, kGates}));
  model.initializer("scale", f32({1}, {0.01F})).initializer("zero", s8({1}, {0}));
  model.node("DynamicQuantizeLSTM",
             {"x", "w", "r", "", "", "", "", "", "scale", "zero", "scale", "zero"}, {"y"},
             {{"hidden_size", kHidden}}, "com.microsoft");
  model.output("y");
  Tensor x(DType::kF32, {2, 1, kIn});
  for (float& each : x.as<float>()) each = static_cast<float>(dice.between(-99, 99)) * 0.02F;
  return {"DynamicQuantizeLSTM", model.bytes(), {x}};
}

std::vector<Case> all_cases() {
  return {integer_product(kOneRow, DType::kS8, 0),
          integer_product(kOneRow, DType::kU8, 128),
          integer_product(kOneRow, DType::kU8, 113),
          integer_product(kTwoRows, DType::kS8, 0),
          integer_product(kTwoRows, DType::kU8, 0),
          product_of_two_zero_points(kOneRow),
          dynamic_product(kOneRow, DType::kU8),
          dynamic_product(kOneRow),
          dynamic_product(kTwoRows),
          requantized_product(kOneRow),
          recurrent_layer()};
}

TEST(ByteWeightsEngines, Natively) { expect_native_agrees(all_cases()); }

TEST(ByteWeightsEngines, AsCodeOfAvx2) {
  expect_compiled_agrees(all_cases(), "avx2");
  expect_clean_code({dynamic_product(kOneRow), requantized_product(kOneRow)}, "avx2");
}

// Bytes of the weights of the case's products with a target; shared ones are there once.
std::size_t weight_bytes(const Case& each, const char* target) {
  std::size_t out = 0;
  const auto program = compiled(each, target);
  if (program == nullptr) return out;
  for (const auto& step : program->steps) {
    for (const ConstantArray& constant : step->constants)
      if (constant.suffix == "weights" && constant.owner.empty()) out += constant.bytes.size();
  }
  return out;
}

TEST(ByteWeights, AreForFewRowsAndManyWeights) {
  constexpr std::size_t kOfOne = 184 * 192, kOfTwo = 516 * 512;  // whole groups of K and vectors
  EXPECT_EQ(weight_bytes(integer_product(kOneRow, DType::kS8, 0), "avx2"), kOfOne);
  EXPECT_EQ(weight_bytes(dynamic_product(kOneRow), "avx2"), kOfOne);
  EXPECT_EQ(weight_bytes(requantized_product(kOneRow), "avx2"), kOfOne);
  EXPECT_EQ(weight_bytes(integer_product(kTwoRows, DType::kS8, 0), "avx2"), kOfTwo);
  EXPECT_EQ(weight_bytes(integer_product({2, 181, 190}, DType::kS8, 0), "avx2"), 2 * kOfOne);
  EXPECT_EQ(weight_bytes(integer_product({3, 513, 512}, DType::kS8, 0), "avx2"), 2 * kOfTwo);
  EXPECT_EQ(weight_bytes(integer_product({1, 128, 248}, DType::kS8, 0), "avx2"), 2U * 128 * 248);
}

// A layer of another shape reads words, and weights are in flash once.
TEST(ByteWeights, AreWordsWhereLayersOfOtherShapesReadThemToo) {
  Dice dice(5);
  ModelBuilder model(17);
  model.initializer("w", random_bytes(dice, DType::kS8, {181, 190}));
  for (const std::int64_t rows : {1, 20}) {
    const std::string name = cat("x", rows);
    model.input(name, DType::kU8, {rows, 181});
    model.node("MatMulInteger", {name, "w"}, {name + "_out"});
    model.output(name + "_out");
  }
  Case each;
  each.name = "shared";
  each.model = model.bytes();
  EXPECT_EQ(weight_bytes(each, "avx2"), std::size_t{2} * 184 * 192);
}

// Or of one byte after the same number was taken from all of them.
TEST(ByteWeights, AreForWeightsOfOneByte) {
  constexpr std::size_t kOfOne = 184 * 192;
  EXPECT_EQ(weight_bytes(integer_product(kOneRow, DType::kU8, 128), "avx2"), kOfOne);
  EXPECT_EQ(weight_bytes(integer_product(kOneRow, DType::kU8, 113), "avx2"), kOfOne);
  EXPECT_EQ(weight_bytes(integer_product(kOneRow, DType::kU8, 0), "avx2"), kOfOne);
  EXPECT_EQ(weight_bytes(integer_product(kOneRow, DType::kS8, -90), "avx2"), kOfOne);
  EXPECT_EQ(weight_bytes(product_of_two_zero_points(kOneRow), "avx2"), 2 * kOfOne);
  EXPECT_EQ(weight_bytes(integer_product(kOneRow, DType::kS8, 0), "sse41"), 2 * kOfOne);
}

}  // namespace
}  // namespace etch
