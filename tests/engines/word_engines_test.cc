// QDQ convolutions of 16-bit activations: the reference of what they become, the steps under the
// Native stage and compiled code give the same bits on every instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/qdq_model.h"
#include "tests/support/targets.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Attributes = std::map<std::string, Attribute>;
using Ints = std::vector<std::int64_t>;

// A power of two, with which sums may be ties, if `unit` is one.
Tensor scales(Dice& dice, const Shape& shape, float unit) {
  Tensor out(DType::kF32, shape);
  int exponent = 0;
  if (std::frexp(unit, &exponent) == 0.5F) {
    for (float& each : out.as<float>())
      each = std::ldexp(unit, static_cast<int>(dice.between(10, 13)));
    return out;
  }
  for (float& each : out.as<float>()) each = static_cast<float>(dice.between(1000, 90000)) * unit;
  return out;
}

Tensor words(Dice& dice, DType type, const Shape& shape, int least, int most) {
  Tensor out(type, shape);
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.size()); ++i) {
    const std::int64_t value = dice.between(least, most);
    if (type == DType::kU16) {
      out.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(value);
    } else {
      out.as<std::int16_t>()[i] = static_cast<std::int16_t>(value);
    }
  }
  return out;
}

// Every third case has weights of uint8 with zero points that leave 8 bits, per channel.
void add_weights(ModelBuilder& model, int index, Dice& dice, std::int64_t out, std::int64_t in,
                 float unit) {
  const DType type = index % 3 == 2 ? DType::kU8 : DType::kS8;
  model.initializer("w", random_bytes(dice, type, {out, in, 3, 2}));
  model.initializer("w_scale", scales(dice, {out}, unit));
  model.initializer("w_zero",
                    type == DType::kU8 ? random_bytes(dice, type, {out}) : Tensor(DType::kS8, {}));
}

// `ties`: of scales that are powers of two.
Case convolution(int index, Dice& dice, bool ties = false) {
  const bool depthwise = index % 4 == 1;
  const std::int64_t group = depthwise        ? dice.pick<std::int64_t>({3, 8, 21, 70})
                             : dice.one_in(3) ? 2
                                              : 1;
  const std::int64_t in = depthwise ? 1 : dice.between(1, 9);
  const std::int64_t out = depthwise ? 1 : dice.pick<std::int64_t>({1, 3, 8, 21, 70});
  const bool is_unsigned = index % 2 == 0;
  const DType type = is_unsigned ? DType::kU16 : DType::kS16;
  const int least = is_unsigned ? 0 : -32768, most = least + 65535;
  const int zero = index % 4 < 2 ? least + 32768 : static_cast<int>(dice.between(least, most));
  const Shape x{1, group * in, dice.between(3, 9), dice.between(3, 9)};
  ModelBuilder model(17);
  model.opset("org.etch", 1);
  model.input("x", type, {x.begin(), x.end()});
  model.initializer("x_scale", scales(dice, {}, ties ? 0x1p-26F : 1e-8F));
  model.initializer("x_zero", words(dice, type, {}, zero, zero));
  add_weights(model, index, dice, group * out, in, ties ? 0x1p-20F : 1e-6F);
  model.initializer("y_scale", scales(dice, {}, ties ? 0x1p-22F : 2e-7F));
  model.initializer("y_zero", words(dice, type, {}, least + 100, most - 100));
  std::vector<std::string> inputs{"x",       "x_scale", "x_zero",  "w",
                                  "w_scale", "w_zero",  "y_scale", "y_zero"};
  if (dice.one_in(2)) {
    Tensor bias(DType::kS32, {group * out});
    for (std::int32_t& each : bias.as<std::int32_t>())
      each = static_cast<std::int32_t>(dice.between(-99999, 99999));
    model.initializer("b", bias);
    inputs.emplace_back("b");
    Tensor rest(DType::kS32, {group * out});
    for (std::int32_t& each : rest.as<std::int32_t>())
      each = static_cast<std::int32_t>(dice.between(-(1 << 30), 1 << 30));
    model.initializer("b_rest", rest);
    if (dice.one_in(2)) inputs.emplace_back("b_rest");
  }
  Attributes attributes{{"group", group}, {"pads", Ints{1, dice.between(0, 1), 1, 0}}};
  if (dice.one_in(3)) attributes["strides"] = Ints{2, 1};
  if (dice.one_in(3)) attributes["clamp_low"] = std::int64_t{least + 500};
  model.node("QLinearConv16", inputs, {"y"}, attributes, "org.etch").output("y");
  return {cat("words_", index, ties ? "_ties" : ""),
          model.bytes(),
          {words(dice, type, x, least, most)}};
}

// Sums of 1,200 channels, more than 32 bits have, of which the results are limited from there on.
Case long_product(int index, Dice& dice) {
  const bool is_unsigned = index % 2 == 0;
  const DType type = is_unsigned ? DType::kU16 : DType::kS16;
  const int least = is_unsigned ? 0 : -32768, most = least + 65535;
  const int zero = least + static_cast<int>(dice.between(0, 65535));
  ModelBuilder model(17);
  model.opset("org.etch", 1);
  model.input("x", type, {3, 1200});
  model.initializer("x_scale", Tensor::of<float>({}, {1}));
  model.initializer("x_zero", words(dice, type, {}, zero, zero));
  const DType bytes = index < 2 ? DType::kU8 : DType::kS8;
  model.initializer("w", random_bytes(dice, bytes, {21, 1200}));
  model.initializer("w_scale", Tensor::of<float>({}, {1}));
  model.initializer("w_zero", random_bytes(dice, bytes, {21}));
  model.initializer("y_scale", Tensor::of<float>({}, {16384}));
  model.initializer("y_zero", words(dice, type, {}, least + 32768, least + 32768));
  model.node("QLinearMatMul16",
             {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"}, {"y"}, {},
             "org.etch");
  model.output("y");
  Tensor x = words(dice, type, {3, 1200}, least, most);
  for (std::size_t i = 0; i < 2400; i += 1 + i / 1200)  // two rows are nearly all of an extreme
    x.mutable_bytes()[2 * i + 1] = std::byte{i < 1200 ? std::uint8_t{0x7f} : std::uint8_t{0x80}};
  return {cat("long_words_", index), model.bytes(), {x}};
}

std::vector<Case> word_samples(int count, int long_products = 4) {
  Dice dice(16);
  std::vector<Case> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out.push_back(convolution(i, dice));
  for (int i = 0; i < long_products; ++i) out.push_back(long_product(i, dice));
  for (int i = 0; i < 1 + count / 4; ++i) out.push_back(convolution(i, dice, true));
  return out;
}

TEST(WordEngines, Natively) { expect_native_agrees(word_samples(60)); }

class WordCode : public testing::TestWithParam<const char*> {};

TEST_P(WordCode, AgreesWithTheReference) {
  expect_compiled_agrees(thinned(word_samples(16), GetParam()), GetParam());
}

TEST(WordEngines, GiveCleanCode) {
  // Two of the three forms that the sums have.
  expect_clean_code(word_samples(2, 1), "scalar");
  expect_clean_code(word_samples(2, 1), "avx512_vnni");
}

// g++ 12 saw an overflow in the loop over the columns that vectors leave, of which there are none.
TEST(WordEngines, GiveCleanCodeOfManyChannelsWithTies) {
  Dice dice(21);
  std::vector<Case> depthwise;
  for (const int index : {1, 5, 9, 13}) depthwise.push_back(convolution(index, dice, true));
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : depthwise) {
    programs.push_back(compiled(each, "avx512_vnni"));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &each.inputs});
  }
  EXPECT_TRUE(compile_generated(entries, *find_target("avx512_vnni"), "g++",
                                {"-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror"}));
}

// x and w of 16 and 8 bits, or of 16 both, one scale each; y of 16 bits.
std::int64_t macs_of(const std::string& type, DType w_type, const Shape& x, const Shape& w,
                     const std::map<std::string, Attribute>& attributes, bool w_is_known) {
  QdqModel qdq(21);
  const Tensor zero = Tensor::of<std::int16_t>({}, {0});
  const std::string a = qdq.input("x", x, 0.5F, zero);
  const std::string b = w_is_known ? qdq.weights("w", Tensor(w_type, w), f32({}, {0.25F}))
                                   : qdq.input("w", w, 0.25F, zero);
  qdq.model().node(type, {a, b}, {"c"}, attributes);
  qdq.output("c", 1, zero);
  Sink sink;
  CompileOptions options;
  options.target = "scalar";
  const auto program = compile(qdq.model().bytes(), options, sink);
  EXPECT_NE(program, nullptr) << errors_of(sink);
  return program == nullptr ? 0 : program->macs - program->float_macs;
}

TEST(WordEngines, CountTheProductsThatAreComputed) {
  EXPECT_EQ(macs_of("Conv", DType::kS8, {1, 2, 7}, {4, 2, 3}, {}, true), 5 * 2 * 3 * 4);
  EXPECT_EQ(
      macs_of("ConvTranspose", DType::kS8, {1, 2, 3}, {2, 4, 5}, {{"strides", Ints{2}}}, true),
      3 * 2 * 5 * 4);
  EXPECT_EQ(macs_of("MatMul", DType::kS16, {2, 3, 4}, {4, 5}, {}, false), 2 * 3 * 4 * 5);
}

INSTANTIATE_TEST_SUITE_P(Targets, WordCode, testing::ValuesIn(all_targets_but({})), name_of_target);
// Targets: pairs of 16 bits in general registers, and in vectors of 128 bits.
INSTANTIATE_TEST_SUITE_P(Cross, WordCode,
                         testing::Values("cortex-m4", "cortex-m55", "aarch64", "armv7-neon"),
                         name_of_target);

}  // namespace
}  // namespace etch
