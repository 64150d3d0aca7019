// Operators on 16-bit activations besides convolutions: the reference, the steps under the Native
// stage and compiled code give the same bits on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

using Attributes = std::map<std::string, Attribute>;
using Ints = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

// Multiples of `unit`.
Tensor words(Dice& dice, DType type, const Shape& shape, std::int64_t least, std::int64_t most,
             std::int64_t unit = 1) {
  Tensor out(type, shape);
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.size()); ++i) {
    const std::int64_t value = dice.between(least, most) / unit * unit;
    if (type == DType::kU16) {
      out.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(value);
    } else {
      out.as<std::int16_t>()[i] = static_cast<std::int16_t>(value);
    }
  }
  return out;
}

// A model of one node, with 16-bit tensors of one type.
class Words {
 public:
  Words(int index, Dice& dice, const std::string& name)
      : dice_(dice), name_(cat(name, "_", index)), index_(index) {
    model_.opset("org.etch", 1);
  }

  // Small whole scales make ties frequent, others units that need more than 32 bits.
  float scale() {
    if (index_ % 3 == 0) return static_cast<float>(dice_.between(1, 6));
    const float wide = index_ % 3 == 1 ? 1.0F : static_cast<float>(dice_.between(1, 90));
    return static_cast<float>(dice_.between(5000000, 16777215)) * 1e-7F / wide;
  }
  void input(const std::string& name, const Shape& shape) {
    const std::int64_t least = index_ % 5 == 0 ? low() : low() + 32000, most = least + 1500;
    model_.input(name, type(), {shape.begin(), shape.end()});
    data_.push_back(
        words(dice_, type(), shape, least, index_ % 5 == 0 ? low() + 65535 : most, unit_));
    inputs_.push_back(name);
  }
  // Inputs are multiples of 256, as zero points are then.
  void round_inputs() { unit_ = 256; }
  void quantization(const std::string& of, float times = 1) {
    model_.initializer(of + "_scale", Tensor::of<float>({}, {times * scale()}));
    const std::int64_t zero =
        index_ % 4 == 0 || unit_ > 1 ? low() + 32768 : dice_.between(low(), low() + 65535);
    model_.initializer(of + "_zero", words(dice_, type(), {}, zero, zero));
    inputs_.insert(inputs_.end(), {of + "_scale", of + "_zero"});
  }
  void initializer(const std::string& name, const Tensor& tensor) {
    model_.initializer(name, tensor);
    inputs_.push_back(name);
  }
  Case node(const std::string& op, const Attributes& attributes = {}) {
    model_.node(op, inputs_, {"y"}, attributes, "org.etch").output("y");
    return {name_, model_.bytes(), data_};
  }

  DType type() const { return index_ % 2 == 0 ? DType::kU16 : DType::kS16; }
  std::int64_t low() const { return index_ % 2 == 0 ? 0 : -32768; }

 private:
  Dice& dice_;
  ModelBuilder model_{17};
  std::string name_;
  int index_;
  std::int64_t unit_ = 1;
  Names inputs_;
  std::vector<Tensor> data_;
};

Case sum(int index, Dice& dice) {
  Words words(index, dice, "sum");
  const std::int64_t n = dice.between(1, 40);
  words.input("a", {2, 3, n});
  words.quantization("a");
  words.quantization("y");
  if (!dice.one_in(3)) {
    words.input("b", dice.one_in(3) ? Shape{3, 1} : Shape{2, 3, n});
    words.quantization("b");
  }
  Attributes attributes;
  if (dice.one_in(3)) attributes["clamp_low"] = words.low() + 20000;
  return words.node("QLinearSum16", attributes);
}

Case multiple(int index, Dice& dice) {
  Words words(index, dice, "multiple");
  const std::int64_t n = dice.between(1, 40);
  words.input("a", dice.one_in(3) ? Shape{2, 1, 1} : Shape{2, 3, n});
  words.quantization("a");
  words.quantization("y");
  words.input("b", dice.one_in(3) ? Shape{3, 1} : Shape{2, 3, n});
  words.quantization("b");
  Attributes attributes;
  if (dice.one_in(3)) attributes["clamp_low"] = words.low() + 20000;
  return words.node("QLinearMul16", attributes);
}

// Of two matrices: columns of whole and part vectors, depths beyond 256, odd ones, batches that
// broadcast, and factors of which the upper bits decide most results, and none.
Case matrices(int index, Dice& dice) {
  Words words(index, dice, "matrices");
  const std::int64_t rows = dice.between(1, 9), cols = dice.pick<std::int64_t>({1, 3, 8, 13, 24});
  const std::int64_t depth = index % 7 == 0 ? dice.between(255, 530) : dice.between(1, 20);
  const std::int64_t batch = dice.between(1, 2);
  words.input("a", dice.one_in(3) ? Shape{rows, depth} : Shape{2, batch, rows, depth});
  words.quantization("a");
  words.quantization("y", dice.pick<float>({1, 64, 4096, 262144, 0x1p25F}));
  words.input("b", dice.one_in(3) ? Shape{batch, depth, cols} : Shape{2, 1, depth, cols});
  words.quantization("b");
  Attributes attributes;
  if (dice.one_in(3)) attributes["clamp_low"] = words.low() + 20000;
  return words.node("QLinearProduct16", attributes);
}

// Lines, steps and noise, so that pieces of all sizes are there.
Case table(int index, Dice& dice) {
  Words words(index, dice, "table");
  words.input("x", {2, 3, dice.between(1, 40)});
  const std::int64_t slope = dice.between(-90, 90);
  Tensor results(words.type(), {65536});
  for (std::int64_t i = 0; i < 65536; ++i) {
    const std::int64_t noise = index % 5 == 0 ? 3 : 0;
    const std::int64_t line = 32768 + (i - 32768) * slope / 90;
    const std::int64_t step = i / 1024 % 21 == 3 ? (i * 7919) % 1000 : dice.between(0, noise);
    const std::int64_t word = words.low() + std::clamp<std::int64_t>(line + step, 0, 65535);
    if (words.type() == DType::kU16) {
      results.as<std::uint16_t>()[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(word);
    } else {
      results.as<std::int16_t>()[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(word);
    }
  }
  words.initializer("table", results);
  return words.node("Table16");
}

Case pool(int index, Dice& dice) {
  Words words(index, dice, "pool");
  const std::int64_t channels = dice.pick<std::int64_t>({1, 3, 17});
  words.input("x", {1, channels, dice.between(4, 7), dice.between(4, 7)});
  const int kind = index % 3;
  Attributes attributes;
  if (kind != 1) {
    attributes = {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{dice.between(1, 2), 1}}};
    if (dice.one_in(2)) attributes["pads"] = Ints{1, 1, 1, 0};
    if (dice.one_in(2)) attributes["ceil_mode"] = std::int64_t{1};
  }
  if (kind == 2) return words.node("MaxPool", attributes);
  if (kind == 0 && dice.one_in(2)) attributes["count_include_pad"] = std::int64_t{1};
  words.quantization("x");
  words.quantization("y");
  return words.node(kind == 0 ? "QLinearAveragePool16" : "QLinearGlobalAveragePool16", attributes);
}

Case mean(int index, Dice& dice) {
  Words words(index, dice, "mean");
  const std::int64_t images = dice.between(1, 3), rows = dice.pick<std::int64_t>({1, 4, 40});
  words.input("x", {images, rows, dice.between(1, 6), dice.pick<std::int64_t>({1, 7, 20})});
  words.quantization("x");
  words.quantization("y");
  const Ints axes = dice.pick<Ints>({{1}, {2, 3}, {3}, {0}, {1, 2}, {0, 1, 2, 3}});
  return words.node("QLinearReduceMean16", {{"axes", axes}, {"keepdims", dice.between(0, 1)}});
}

// Words of all their range, whose products fill 32 bits, and results of that size. Some are ties:
// those of multiples of 256 in units of 2^17.
Case wide_multiple(int index, Dice& dice) {
  Words words(5 * index, dice, "wide_multiple");
  const bool ties = index % 3 == 0;
  if (ties) words.round_inputs();
  const std::int64_t n = dice.between(1, 40);
  words.input("a", dice.one_in(3) ? Shape{2, 1, 1} : Shape{2, 3, n});
  words.quantization("a");
  words.quantization("y", ties ? 131072 : dice.pick<float>({16384, 65536, 40000, 70001}));
  words.input("b", {2, 3, n});
  words.quantization("b");
  return words.node("QLinearMul16");
}

// The same of matrices, with rows and columns beside whole tiles; some results are at a limit.
Case wide_matrices(int index, Dice& dice) {
  Words words(5 * index, dice, "wide_matrices");
  const bool ties = index % 3 == 0;
  if (ties) words.round_inputs();
  words.input("a", {5, 20});
  words.quantization("a");
  words.quantization("y", ties ? 131072 : 70001);
  words.input("b", {20, 13});
  words.quantization("b");
  return words.node("QLinearProduct16");
}

Case product(int index, Dice& dice) {
  Words words(index, dice, "product");
  const bool matrices = index % 3 == 0;
  const std::int64_t in = dice.between(1, 9), out = dice.pick<std::int64_t>({1, 6, 21});
  const std::int64_t group = matrices ? 1 : dice.pick<std::int64_t>({1, 2});
  if (matrices) {
    words.input("x", {2, dice.between(1, 9), in});
  } else {
    words.input("x", {1, group * in, dice.between(1, 5), dice.between(3, 12)});
  }
  words.quantization("x");
  words.initializer("w", random_bytes(dice, DType::kS8,
                                      matrices ? Shape{out, in} : Shape{group * in, out, 3, 2}));
  Tensor scales(DType::kF32, {group * out});
  for (float& each : scales.as<float>()) each = static_cast<float>(dice.between(1, 90)) * 1e-4F;
  words.initializer("w_scale", scales);
  words.initializer("w_zero", Tensor(DType::kS8, {}));
  words.quantization("y");
  Tensor bias(DType::kS32, {group * out});
  for (std::int32_t& each : bias.as<std::int32_t>())
    each = static_cast<std::int32_t>(dice.between(-99999, 99999));
  words.initializer("b", bias);
  if (matrices) return words.node("QLinearMatMul16");
  return words.node("QLinearConvTranspose16", {{"group", group},
                                               {"strides", Ints{dice.between(1, 3), index % 3}},
                                               {"pads", Ints{1, 0, dice.between(0, 1), 0}}});
}

std::vector<Case> word_sum_samples(int count) {
  Dice dice(17), other(18);
  std::vector<Case> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(sum(i, dice));
    out.push_back(sum(i + 1, dice));
    out.push_back(multiple(i, dice));
    out.push_back(matrices(i, dice));
    out.push_back(table(i, dice));
    out.push_back(pool(i, dice));
    out.push_back(product(i, dice));
    out.push_back(mean(i, other));
  }
  return out;
}

TEST(WordSumEngines, Natively) { expect_native_agrees(word_sum_samples(24)); }

class WordSumCode : public testing::TestWithParam<const char*> {};

TEST_P(WordSumCode, AgreesWithTheReference) {
  expect_compiled_agrees(thinned(word_sum_samples(6), GetParam()), GetParam());
}

// All of them: vectors of this instruction set have a form of their own for products without ties.
TEST_P(WordSumCode, MultipliesWordsOfAllTheirRange) {
  Dice dice(19);
  std::vector<Case> cases;
  cases.reserve(13);
  for (int i = 0; i < 9; ++i) cases.push_back(wide_multiple(i, dice));
  for (int i = 0; i < 4; ++i) cases.push_back(wide_matrices(i, dice));
  expect_compiled_agrees(cases, GetParam());
}

TEST(WordSumEngines, GiveCleanCode) {
  expect_clean_code(word_sum_samples(3), "scalar");
  expect_clean_code(word_sum_samples(3), "avx512_vnni");
}

INSTANTIATE_TEST_SUITE_P(Targets, WordSumCode, testing::ValuesIn(all_targets_but({})),
                         name_of_target);
// Targets: those whose products or functions have vectors or pairs of their own.
INSTANTIATE_TEST_SUITE_P(Cross, WordSumCode, testing::Values("cortex-m4", "aarch64", "riscv64-rvv"),
                         name_of_target);

}  // namespace
}  // namespace etch
