// MatMulNBits: the formula by hand, the packing, and the refusals.
#include "compiler/ops/matmul_nbits/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr const char* kMs = "com.microsoft";

// K = 20 in blocks of 16, N = 1; all ones except where said, bits 4: byte 0x99 is two values of 9.
OneNode product(std::int64_t level = 0) {
  OneNode node("MatMulNBits", kMs, 1);
  node.attribute("K", std::int64_t{20}).attribute("N", std::int64_t{1});
  node.attribute("bits", std::int64_t{4}).attribute("block_size", std::int64_t{16});
  node.attribute("accuracy_level", level);
  Tensor a = f32({1, 20}, std::vector<float>(20, 1));
  a.as<float>()[1] = -3;
  node.input(std::move(a));
  std::vector<std::uint8_t> b(16, 0x99);
  b[0] = 0x4a;   // depth 0: 10, depth 1: 4
  b[10] = 0x77;  // beyond the depth: no part of any sum
  node.constant(u8({1, 2, 8}, b)).constant(f32({1, 2}, {0.5F, 2}));
  return node;
}

TEST(MatMulNBits, TakesTheMiddleOffWithoutZeroPoints) {
  // Block 0: (2 + -3 * -4 + 14) * 0.5; block 1: 4 * 2.
  EXPECT_EQ(product().run().at(0), f32({1, 1}, {22}));
}

TEST(MatMulNBits, TakesPackedZeroPointsOffAndAddsTheBias) {
  OneNode node = product();
  node.constant(u8({1, 1}, {0x79})).omitted().constant(f32({1}, {100}));
  // Block 0, zero 9: (1 + -3 * -5) * 0.5; block 1, zero 7: 4 * 2 * 2.
  EXPECT_EQ(node.run().at(0), f32({1, 1}, {124}));
}

TEST(MatMulNBits, TakesFloatZeroPointsOff) {
  OneNode node = product();
  node.constant(f32({2}, {9, 8.5F}));
  EXPECT_EQ(node.run().at(0), f32({1, 1}, {12}));
}

TEST(MatMulNBits, QuantizesRowsInBlocksAtLevel4) {
  // Block 0: largest 3, q = rne(42.33) = 42 and -127: (84 + 508 + 14 * 42) * fl(fl(3 / 127) * 0.5).
  const float scale = 3.0F / 127.0F * 0.5F;
  EXPECT_EQ(product(4).run().at(0), f32({1, 1}, {1180 * scale + 508 * (1 / 127.0F * 2)}));
}

// K = 512 in one block: ONNX Runtime 1.32 gives the rows two scales.
TEST(MatMulNBits, QuantizesRowsInBlocksOf256AtMost) {
  OneNode node("MatMulNBits", kMs, 1);
  node.attribute("K", std::int64_t{512}).attribute("N", std::int64_t{1});
  node.attribute("block_size", std::int64_t{512}).attribute("accuracy_level", std::int64_t{4});
  Tensor a = f32({1, 512}, std::vector<float>(512, 1));
  a.as<float>()[0] = 3;
  node.input(std::move(a));
  node.constant(u8({1, 1, 256}, std::vector<std::uint8_t>(256, 0x99))).constant(f32({1}, {0.5F}));
  // The first 256 values: 127 and 255 times rne(42.33); the others 127.
  const float first = 10837 * (3.0F / 127.0F * 0.5F), second = 32512 * (1 / 127.0F * 0.5F);
  EXPECT_EQ(node.run().at(0), f32({1, 1}, {first + second}));
}

// Three ones and a 0.7 times weights of 1 with the scale 1: int8 rows make 89 / 127 of the 0.7.
Tensor two_bits_at_level_4(std::int64_t block) {
  OneNode node("MatMulNBits", kMs, 1);
  node.attribute("K", std::int64_t{4}).attribute("N", std::int64_t{1});
  node.attribute("bits", std::int64_t{2}).attribute("block_size", block);
  node.attribute("accuracy_level", std::int64_t{4});
  node.input(f32({1, 4}, {1, 1, 1, 0.7F}));
  const std::int64_t bytes = block / 4;
  node.constant(u8({1, 1, bytes}, std::vector<std::uint8_t>(static_cast<std::size_t>(bytes), 0xff)))
      .constant(f32({1, 1}, {1}));
  return node.run().at(0);
}

// As ONNX Runtime 1.32, which has integer products of 2 bits for blocks of 32, 64 and 128.
TEST(MatMulNBits, KeepsFloatRowsForTwoBitsInBlocksOfOtherSizes) {
  const Tensor floats = f32({1, 1}, {1.0F + 1.0F + 1.0F + 0.7F});
  const Tensor integers = f32({1, 1}, {(3 * 127 + 89) * (1.0F / 127)});
  EXPECT_EQ(two_bits_at_level_4(16), floats);
  for (const std::int64_t block : {32, 64, 128}) EXPECT_EQ(two_bits_at_level_4(block), integers);
  EXPECT_EQ(two_bits_at_level_4(256), floats);
}

TEST(MatMulNBits, WeightsThatArriveAtRunTimeAreRefused) {
  OneNode node("MatMulNBits", kMs, 1);
  node.attribute("K", std::int64_t{16}).attribute("N", std::int64_t{1});
  node.attribute("block_size", std::int64_t{16});
  node.input(f32({1, 16}, std::vector<float>(16)))
      .input(u8({1, 1, 8}, std::vector<std::uint8_t>(8)));
  node.constant(f32({1}, {1}));
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: must be known at compile time");
}

TEST(MatMulNBits, WrongSizesAreRefused) {
  OneNode block = product();
  block.attribute("block_size", std::int64_t{24});
  EXPECT_EQ(block.errors(), "E-ATTR: must be a power of two, got 24");
  OneNode bits = product();
  bits.attribute("bits", std::int64_t{3});
  EXPECT_EQ(bits.errors(), "E-ATTR: must be 2, 4 or 8, got 3");
  OneNode packed = product();
  packed.attribute("weight_prepacked", std::int64_t{1});
  EXPECT_NE(packed.errors().find("E-ATTR"), std::string::npos);
  OneNode depth = product();
  depth.attribute("K", std::int64_t{21});
  EXPECT_EQ(depth.errors(), "E-SHAPE: must end in 21 (K), got [1, 20]");
  OneNode cols = product();
  cols.attribute("N", std::int64_t{2});
  EXPECT_NE(cols.errors().find("E-SHAPE: must be [2, 2, 8], got [1, 2, 8]"), std::string::npos);
  OneNode zeros = product();
  zeros.constant(u8({2}, {1, 2}));
  EXPECT_EQ(zeros.errors(), "E-SHAPE: must have 1 element, got [2]");
}

}  // namespace
}  // namespace etch
