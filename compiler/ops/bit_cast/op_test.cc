// BitCast: bits that stay, and types that it refuses.
#include "compiler/ops/bit_cast/op.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>

#include "compiler/base/text.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr std::int64_t kFloat = 1, kUint8 = 2, kInt16 = 5, kInt32 = 6, kBool = 9, kHalf = 10,
                       kUint32 = 12;

Tensor bit_cast(const Tensor& x, std::int64_t to) {
  OneNode node("BitCast", "", 26);
  node.input(x).attribute("to", to);
  return node.run().at(0);
}

std::string refused(const Tensor& x, std::int64_t to) {
  OneNode node("BitCast", "", 26);
  node.input(x).attribute("to", to);
  return node.errors();
}

std::string no_bits(const char* from, const char* to) {
  return cat(
      "E-UNSUPPORTED: the bits of ", from, " cannot be read as ", to,
      ": both must be float32 or integers of 8 to 64 bits, of one width (bool only as source; "
      "float16, bfloat16 and float64 are float32 here)");
}

TEST(BitCast, FloatsAreTheirBits) {
  EXPECT_EQ(bit_cast(f32({3}, {1, -2, -0.0F}), kInt32),
            s32({3}, {0x3F800000, std::bit_cast<std::int32_t>(0xC0000000), INT32_MIN}));
  EXPECT_EQ(bit_cast(s32({2, 1}, {0x40490FDB, 0}), kFloat),
            f32({2, 1}, {std::bit_cast<float>(0x40490FDB), 0}));
}

TEST(BitCast, BitsOfANanStay) {
  const std::int32_t payload = 0x7F812345;
  EXPECT_EQ(bit_cast(bit_cast(s32({1}, {payload}), kFloat), kInt32), s32({1}, {payload}));
}

TEST(BitCast, IntegersChangeTheirSign) {
  EXPECT_EQ(bit_cast(s8({3}, {-1, -128, 5}), kUint8), u8({3}, {255, 128, 5}));
  EXPECT_EQ(bit_cast(s32({1}, {-1}), kUint32).dtype(), DType::kU32);
}

TEST(BitCast, TypesMustHaveOneWidth) {
  EXPECT_EQ(refused(f32({1}, {1}), kInt16), no_bits("float32", "int16"));
}

TEST(BitCast, BitsOtherThanZeroAndOneAreNoBool) {
  EXPECT_EQ(refused(u8({1}, {2}), kBool), no_bits("uint8", "bool"));
  EXPECT_EQ(bit_cast(Tensor(DType::kBool, {2}), kUint8), u8({2}, {0, 0}));
}

TEST(BitCast, HalfFloatsAndUnknownTypesAreRefused) {
  EXPECT_EQ(refused(f32({1}, {1}), kHalf), no_bits("float32", "float16"));
  EXPECT_EQ(refused(f32({1}, {1}), 99), no_bits("float32", "ONNX data type 99"));
}

TEST(BitCast, TargetOfAnotherTypeIsReportedOnce) {
  OneNode node("BitCast", "", 26);
  node.input(f32({1}, {1})).attribute("to", 6.0F);
  EXPECT_EQ(node.errors(), "E-ATTR: must be an integer, got a float");
}

TEST(BitCast, TargetIsRequired) {
  OneNode node("BitCast", "", 26);
  node.input(u8({1}, {1}));
  EXPECT_EQ(node.errors(), "E-ATTR: is missing");
}

}  // namespace
}  // namespace etch
