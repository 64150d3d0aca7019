// QLinearWhere: requantization, broadcasting, refusals.
#include "compiler/ops/qlinear_where/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor flags(const Shape& shape, const std::vector<int>& values) {
  Tensor out(DType::kBool, shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    out.mutable_bytes()[i] = static_cast<std::byte>(values[i]);
  return out;
}

OneNode where(const Tensor& condition, const Tensor& x, const Tensor& y, float z_scale) {
  const Tensor zero(x.dtype(), {});
  OneNode node("QLinearWhere", "com.microsoft", 1);
  node.input(condition).input(x).constant(f32({}, {0.5F})).constant(zero);
  node.input(y).constant(f32({}, {2})).constant(zero);
  node.constant(f32({}, {z_scale})).constant(zero);
  return node;
}

TEST(QLinearWhere, RequantizesWhatItTakes) {
  EXPECT_EQ(where(flags({4}, {1, 0, 1, 0}), s8({4}, {3, 9, -5, 9}), s8({4}, {9, 3, 9, 100}), 1)
                .run()
                .at(0),
            s8({4}, {2, 6, -2, 127}));
}

TEST(QLinearWhere, KeepsIntegersOfTheSameQuantization) {
  EXPECT_EQ(where(flags({2}, {1, 0}), u8({2}, {255, 0}), u8({2}, {0, 7}), 0.5F).run().at(0),
            u8({2}, {255, 28}));
}

TEST(QLinearWhere, BroadcastsAllThree) {
  EXPECT_EQ(where(flags({2, 1}, {1, 0}), u8({3}, {1, 2, 3}), u8({}, {9}), 0.5F).run().at(0),
            u8({2, 3}, {1, 2, 3, 36, 36, 36}));
}

TEST(QLinearWhere, ShapesMustBroadcast) {
  EXPECT_EQ(where(flags({2}, {1, 0}), u8({3}, {1, 2, 3}), u8({}, {9}), 1).errors(),
            "E-SHAPE: shapes [2], [3] and [] do not broadcast");
}

TEST(QLinearWhere, TypesMustBeBoolAndOneOf8Bits) {
  EXPECT_EQ(where(u8({1}, {1}), u8({1}, {1}), u8({1}, {1}), 1).errors(),
            "E-TYPE: must be bool, got uint8");
  EXPECT_EQ(where(flags({1}, {1}), f32({1}, {1}), f32({1}, {1}), 1).errors(),
            "E-TYPE: must be uint8, int8, got float32");
  EXPECT_EQ(where(flags({1}, {1}), u8({1}, {1}), s8({1}, {1}), 1).errors(),
            "E-TYPE: must be uint8, got int8");
}

}  // namespace
}  // namespace etch
