// Products and tables whose weights stay packed integers: the reference, the steps under the Native
// stage and compiled code give the same bits on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/dealt.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

constexpr const char* kMs = "com.microsoft";
using Attributes = std::map<std::string, Attribute>;

Tensor any_floats(Dice& dice, const Shape& shape, float scale) {
  Tensor out(DType::kF32, shape);
  for (float& each : out.as<float>())
    each = static_cast<float>(dice.between(-99999, 99999)) * 1e-5F * scale;
  return out;
}

// One MatMulNBits of any kind: bits, zero points and accuracy level by turns, the rest by chance.
Case product(int index, Dice& dice) {
  const std::int64_t bits = std::int64_t{2} << (index % 3);
  const std::int64_t block = dice.pick<std::int64_t>({16, 32, 128, 512});
  const std::int64_t depth = dice.between(1, block == 512 ? 700 : 150);
  const std::int64_t cols = dice.pick<std::int64_t>({1, 7, 64, 90});
  const std::int64_t rows = dice.one_in(3) ? 1 : dice.between(1, 9);
  const std::int64_t blocks = (depth - 1) / block + 1;
  ModelBuilder model(17);
  model.opset(kMs, 1);
  const Shape shape = dice.one_in(3) ? Shape{2, rows, depth} : Shape{rows, depth};
  model.input("a", DType::kF32, declared_dims(shape));
  model.initializer("b", random_bytes(dice, DType::kU8, {cols, blocks, block * bits / 8}));
  model.initializer("scales", any_floats(dice, {cols, blocks}, 0.1F));
  std::vector<std::string> inputs{"a", "b", "scales", "", "", ""};
  const int zeros = index / 3 % 3;
  if (zeros != 0) inputs[3] = "zeros";
  if (zeros == 1) {
    model.initializer("zeros", random_bytes(dice, DType::kU8, {cols, (blocks * bits + 7) / 8}));
  } else if (zeros == 2) {
    model.initializer("zeros", any_floats(dice, {cols, blocks}, 9));
  }
  if (dice.one_in(2)) {
    inputs[5] = "bias";
    model.initializer("bias", any_floats(dice, {cols}, 3));
  }
  while (inputs.back().empty()) inputs.pop_back();
  const std::int64_t level = index / 9 % 2 * 4;
  model.node("MatMulNBits", inputs, {"y"},
             Attributes{{"K", depth},
                        {"N", cols},
                        {"bits", bits},
                        {"block_size", block},
                        {"accuracy_level", level}},
             kMs);
  model.output("y");
  Tensor a = any_floats(dice, shape, 2);
  if (dice.one_in(4)) std::fill(a.as<float>().begin(), a.as<float>().end(), 0.0F);
  return {
      cat("packed_", index, "_", bits, "bits_", rows, "x", depth, "x", cols), model.bytes(), {a}};
}

// MatMul or Gemm of what a DequantizeLinear makes of integers of 4 or 8 bits in blocks, none of a
// power of two from 16 on, where rows are quantized too (compiler/passes/pack_weights.h); scales
// may be negative or 0.
Case dequantized(int index, Dice& dice) {
  const bool gemm = dice.one_in(2), transposed = gemm && dice.one_in(2);
  const std::int64_t rows = dice.between(1, 7), depth = dice.between(2, 70);
  const std::int64_t cols = dice.between(1, 40), block = dice.pick<std::int64_t>({3, 24, 40});
  const std::int64_t blocks = (depth - 1) / block + 1;
  const DType type = dice.pick<DType>({DType::kS4, DType::kU4, DType::kS8});
  const int least = type == DType::kU4 ? 0 : type == DType::kS4 ? -8 : -128;
  const int most = type == DType::kU4 ? 15 : type == DType::kS4 ? 7 : 127;
  const auto integers = [&](Shape shape) {
    if (transposed) std::swap(shape[0], shape[1]);
    Tensor out(type, shape);
    const Tensor bytes = random_bytes(dice, DType::kS8, shape, least, most);
    std::copy(bytes.bytes().begin(), bytes.bytes().end(), out.mutable_bytes().begin());
    return out;
  };
  ModelBuilder model(21);
  model.input("a", DType::kF32, {rows, depth});
  model.initializer("q", integers({depth, cols}));
  Tensor scales = any_floats(dice, transposed ? Shape{cols, blocks} : Shape{blocks, cols}, 0.1F);
  scales.as<float>()[0] = 0;
  model.initializer("scales", scales);
  std::vector<std::string> parameters{"q", "scales"};
  if (dice.one_in(2)) {
    model.initializer("zeros", integers({blocks, cols}));
    parameters.emplace_back("zeros");
  }
  model.node("DequantizeLinear", parameters, {"b"},
             Attributes{{"axis", std::int64_t{transposed ? 1 : 0}}, {"block_size", block}});
  if (gemm) {
    model.initializer("c", any_floats(dice, {cols}, 2));
    model.node("Gemm", {"a", "b", "c"}, {"y"}, Attributes{{"transB", std::int64_t{transposed}}});
  } else {
    model.node("MatMul", {"a", "b"}, {"y"});
  }
  model.output("y");
  return {cat("dequantized_", index), model.bytes(), {any_floats(dice, {rows, depth}, 2)}};
}

// Columns for the widest vectors of any target, more rows than its tiles have or one alone, a rest
// of a byte, and bytes whose products leave 16 bits in pairs.
Case wide(std::int64_t rows, std::int64_t bits, std::int64_t level) {
  Dice dice(22);
  const std::int64_t depth = 69, cols = 64, block = 32, blocks = 3;
  ModelBuilder model(17);
  model.opset(kMs, 1);
  model.input("a", DType::kF32, declared_dims({rows, depth}));
  model.initializer("b", random_bytes(dice, DType::kU8, {cols, blocks, block * bits / 8}));
  model.initializer("scales", any_floats(dice, {cols, blocks}, 0.1F));
  model.node("MatMulNBits", {"a", "b", "scales"}, {"y"},
             Attributes{{"K", depth},
                        {"N", cols},
                        {"bits", bits},
                        {"block_size", block},
                        {"accuracy_level", level}},
             kMs);
  model.output("y");
  return {cat("wide_", rows, "_", bits), model.bytes(), {any_floats(dice, {rows, depth}, 2)}};
}

Case table(int index, Dice& dice) {
  const std::int64_t bits = std::int64_t{2} << (index % 3), block = 16;
  const std::int64_t size = dice.between(1, 6), per_byte = 8 / bits;
  const std::int64_t last = block * dice.between(1, 3) + (dice.one_in(2) ? per_byte : 0);
  const std::int64_t blocks = (last - 1) / block + 1;
  const bool wide = dice.one_in(2);
  ModelBuilder model(17);
  model.opset(kMs, 1);
  Tensor indices(wide ? DType::kS64 : DType::kS32, {3});
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t at = dice.between(-size - 1, size);
    if (wide) {
      indices.as<std::int64_t>()[i] = at;
    } else {
      indices.as<std::int32_t>()[i] = static_cast<std::int32_t>(at);
    }
  }
  model.input("i", indices.dtype(), {3});
  model.initializer("x", random_bytes(dice, DType::kU8, {size, last / per_byte}));
  model.initializer("scales", any_floats(dice, {size, blocks}, 0.1F));
  std::vector<std::string> inputs{"x", "i", "scales"};
  if (dice.one_in(2)) {
    model.initializer("zeros", random_bytes(dice, DType::kU8, {size, (blocks - 1) / per_byte + 1}));
    inputs.emplace_back("zeros");
  }
  model.node("GatherBlockQuantized", inputs, {"y"},
             Attributes{{"bits", bits}, {"block_size", block}}, kMs);
  model.output("y");
  return {cat("table_", index), model.bytes(), {indices}};
}

std::vector<Case> packed_weights_samples(int products, int dequantizations, int tables) {
  Dice dice(21);
  std::vector<Case> out;
  out.reserve(static_cast<std::size_t>(products));
  for (int i = 0; i < products; ++i) out.push_back(product(i, dice));
  for (int i = 0; i < dequantizations; ++i) out.push_back(dequantized(i, dice));
  for (int i = 0; i < tables; ++i) out.push_back(table(i, dice));
  return out;
}

TEST(PackedWeightsEngines, Natively) { expect_native_agrees(packed_weights_samples(54, 30, 12)); }

TEST(PackedWeightsEngines, NativelyInFusedProducts) {
  expect_native_agrees(fused(packed_weights_samples(36, 12, 0)));
}

class PackedWeightsCode : public testing::TestWithParam<const char*> {};

TEST_P(PackedWeightsCode, AgreesWithTheReference) {
  std::vector<Case> cases = thinned(packed_weights_samples(18, 6, 3), GetParam());
  add_cases(cases, thinned(fused(packed_weights_samples(9, 3, 0)), GetParam()));
  add_cases(cases, {wide(11, 4, 0), wide(11, 8, 4), wide(1, 4, 0)});
  expect_compiled_agrees(cases, GetParam());
}

TEST(PackedWeightsEngines, GiveCleanCode) {
  expect_clean_code(packed_weights_samples(6, 1, 1), "scalar");
  expect_clean_code(packed_weights_samples(6, 1, 1), "avx2");
}

INSTANTIATE_TEST_SUITE_P(Targets, PackedWeightsCode, testing::ValuesIn(all_targets_but({})),
                         name_of_target);

}  // namespace
}  // namespace etch
