// GatherBlockQuantized: the formula by hand and the refusals.
#include "compiler/ops/gather_block_quantized/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr const char* kMs = "com.microsoft";

// Two rows of 32 values of 4 bits in blocks of 16: 1 and 2 in turn, row 1 has 3 and 4.
OneNode table() {
  OneNode node("GatherBlockQuantized", kMs, 1);
  node.attribute("block_size", std::int64_t{16});
  std::vector<std::uint8_t> data(32, 0x21);
  for (std::size_t i = 16; i < 32; ++i) data[i] = 0x43;
  node.constant(u8({2, 16}, data)).input(s64({2}, {-1, 2}));
  node.constant(f32({2, 2}, {1, 2, 0.5F, -4}));
  return node;
}

TEST(GatherBlockQuantized, ScalesBlocksOfTheRowsThatAreNamed) {
  const Tensor y = table().run().at(0);
  ASSERT_EQ(y.shape(), (Shape{2, 32}));
  EXPECT_EQ(y.as<float>()[0], (3 - 8) * 0.5F);
  EXPECT_EQ(y.as<float>()[31], (4 - 8) * -4.0F);
  EXPECT_EQ(y.as<float>()[32], 0);  // there is no row 2
}

TEST(GatherBlockQuantized, TakesPackedZeroPointsOff) {
  OneNode node = table();
  node.constant(u8({2, 1}, {0, 0x51}));
  const Tensor y = node.run().at(0);
  EXPECT_EQ(y.as<float>()[0], (3 - 1) * 0.5F);
  EXPECT_EQ(y.as<float>()[31], (4 - 5) * -4.0F);
}

TEST(GatherBlockQuantized, OtherAxesAreRefused) {
  OneNode gather = table();
  gather.attribute("gather_axis", std::int64_t{1});
  EXPECT_EQ(gather.errors(), "E-UNSUPPORTED: gather_axis must be 0, got 1");
  OneNode quantize = table();
  quantize.attribute("quantize_axis", std::int64_t{0});
  EXPECT_EQ(quantize.errors(),
            "E-UNSUPPORTED: quantize_axis must be the last one and not gather_axis, got 0");
}

TEST(GatherBlockQuantized, WrongSizesAreRefused) {
  OneNode block = table();
  block.attribute("block_size", std::int64_t{8});
  EXPECT_EQ(block.errors(), "E-ATTR: must be a power of two from 16 on, got 8");
  OneNode bits = table();
  bits.attribute("bits", std::int64_t{8});  // then a row has one block
  EXPECT_EQ(bits.errors(), "E-SHAPE: must be [2, 1], got [2, 2]");
  OneNode zeros = table();
  zeros.constant(s8({2, 1}, {0, 0}));
  EXPECT_EQ(zeros.errors(), "E-TYPE: must have the type of data");
}

}  // namespace
}  // namespace etch
