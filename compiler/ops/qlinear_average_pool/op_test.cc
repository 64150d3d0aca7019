// QLinearAveragePool: rounding, what counts, the global case.
#include "compiler/ops/qlinear_average_pool/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

OneNode pool(const Tensor& x, const List& kernel, float y_scale, std::uint8_t y_zero_point) {
  OneNode node("QLinearAveragePool", "com.microsoft", 1);
  node.input(x).constant(f32({}, {1})).constant(u8({}, {0}));
  node.constant(f32({}, {y_scale})).constant(u8({}, {y_zero_point}));
  node.attribute("kernel_shape", kernel);
  return node;
}

TEST(QLinearAveragePool, ZeroPointIsAddedBeforeRounding) {
  // Means 1.5 and 2.5, plus 1: 2.5 and 3.5 round to 2 and 4.
  EXPECT_EQ(pool(u8({1, 1, 3}, {1, 2, 3}), {2}, 1, 1).run().at(0), u8({1, 1, 2}, {2, 4}));
}

TEST(QLinearAveragePool, WholeImageIsComputedAsTheGlobalPool) {
  OneNode node = pool(u8({1, 1, 2}, {1, 2}), {2}, 1, 1);
  EXPECT_EQ(node.run().at(0), u8({1, 1, 1}, {3}));  // rne(1.5) + 1
  EXPECT_TRUE(params_of<QLinearAveragePool>(node.node()).global.has_value());
}

TEST(QLinearAveragePool, PaddingIsCountedOnRequest) {
  OneNode without = pool(u8({1, 1, 2}, {90, 90}), {3}, 1, 0);
  without.attribute("pads", List{1, 1});
  EXPECT_EQ(without.run().at(0), u8({1, 1, 2}, {90, 90}));
  OneNode with = pool(u8({1, 1, 2}, {90, 90}), {3}, 1, 0);
  with.attribute("pads", List{1, 1}).attribute("count_include_pad", std::int64_t{1});
  EXPECT_EQ(with.run().at(0), u8({1, 1, 2}, {60, 60}));
}

TEST(QLinearAveragePool, FullKernelIsCountedWhereCeilModeHangsOver) {
  OneNode node = pool(u8({1, 1, 3}, {90, 90, 90}), {2}, 1, 0);
  node.attribute("strides", List{2}).attribute("ceil_mode", std::int64_t{1});
  node.attribute("count_include_pad", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), u8({1, 1, 2}, {90, 45}));
}

TEST(QLinearAveragePool, ChannelsMayBeLast) {
  OneNode node = pool(u8({1, 3, 2}, {1, 10, 3, 20, 5, 30}), {2}, 1, 0);
  node.attribute("channels_last", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), u8({1, 2, 2}, {2, 15, 4, 25}));
}

TEST(QLinearAveragePool, DilationsAreUnknown) {
  OneNode node = pool(u8({1, 1, 3}, {1, 2, 3}), {2}, 1, 0);
  node.attribute("dilations", List{1});
  EXPECT_EQ(node.errors(), "E-ATTR: is not an attribute of this operator");
}

TEST(QLinearAveragePool, TypesMustBeEightBits) {
  EXPECT_EQ(pool(counting({1, 1, 2}), {2}, 1, 0).errors(),
            "E-TYPE: must be uint8, int8, got float32");
}

}  // namespace
}  // namespace etch
