// QLinearGlobalAveragePool: layouts, rounding, limits.
#include "compiler/ops/qlinear_global_average_pool/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode pool(const Tensor& x, float x_scale, float y_scale, std::uint8_t y_zero_point) {
  OneNode node("QLinearGlobalAveragePool", "com.microsoft", 1);
  node.input(x).constant(f32({}, {x_scale})).constant(u8({}, {0}));
  node.constant(f32({}, {y_scale})).constant(u8({}, {y_zero_point}));
  return node;
}

TEST(QLinearGlobalAveragePool, AveragesPlanes) {
  EXPECT_EQ(pool(u8({1, 2, 1, 2}, {1, 3, 10, 20}), 1, 1, 0).run().at(0), u8({1, 2, 1, 1}, {2, 15}));
}

TEST(QLinearGlobalAveragePool, ChannelsMayBeLast) {
  OneNode node = pool(u8({1, 2, 2}, {1, 10, 3, 20}), 1, 1, 0);
  node.attribute("channels_last", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), u8({1, 1, 2}, {2, 15}));
}

TEST(QLinearGlobalAveragePool, ZeroPointIsAddedAfterRounding) {
  EXPECT_EQ(pool(u8({1, 1, 2}, {2, 3}), 1, 1, 1).run().at(0), u8({1, 1, 1}, {3}));  // rne(2.5) + 1
}

TEST(QLinearGlobalAveragePool, ScaleMustBeInRange) {
  EXPECT_EQ(pool(u8({1, 1, 1}, {1}), 512, 1, 0).errors(),
            "E-QUANT: x_scale / (y_scale * elements) must be in [2^-32, 256), got 512");
  EXPECT_EQ(pool(u8({1, 1, 1}, {1}), 0x1p-33F, 1, 0).errors().substr(0, 7), "E-QUANT");
}

TEST(QLinearGlobalAveragePool, PlanesAreLimited) {
  EXPECT_EQ(pool(Tensor(DType::kU8, {1, 1, 1 << 24}), 1, 1, 0).errors(),
            "E-LIMIT: a plane must have less than 2^24 elements, got 16777216");
}

TEST(QLinearGlobalAveragePool, SpatialAxesAreRequired) {
  EXPECT_EQ(pool(u8({1, 1}, {1}), 1, 1, 0).errors(),
            "E-SHAPE: x must have spatial axes and elements, got [1, 1]");
}

TEST(QLinearGlobalAveragePool, TypesMustBeEightBits) {
  EXPECT_EQ(pool(counting({1, 1, 1}), 1, 1, 0).errors(),
            "E-TYPE: must be uint8, int8, got float32");
}

}  // namespace
}  // namespace etch
