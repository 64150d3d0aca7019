// GlobalAveragePool and GlobalMaxPool.
#include "compiler/ops/global_pool/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(GlobalPool, AveragesEachPlane) {
  OneNode node("GlobalAveragePool");
  node.input(f32({1, 2, 1, 2}, {1, 2, -4, 8}));
  EXPECT_EQ(node.run().at(0), f32({1, 2, 1, 1}, {1.5F, 2}));
}

TEST(GlobalPool, TakesTheLargestOfEachPlane) {
  OneNode node("GlobalMaxPool");
  node.input(f32({2, 1, 3}, {1, 2, 0, -4, -8, -6}));
  EXPECT_EQ(node.run().at(0), f32({2, 1, 1}, {2, -4}));
}

TEST(GlobalPool, PlanesMustHaveElements) {
  OneNode empty("GlobalMaxPool");
  empty.input(counting({1, 1, 0}));
  EXPECT_EQ(empty.errors(),
            "E-SHAPE: x must be [N, C, ...] with elements in each plane, got [1, 1, 0]");
  OneNode matrix("GlobalAveragePool");
  matrix.input(counting({1, 1}));
  EXPECT_EQ(matrix.errors(),
            "E-SHAPE: x must be [N, C, ...] with elements in each plane, got [1, 1]");
}

TEST(GlobalPool, TypesOtherThanFloatAreRefused) {
  OneNode node("GlobalMaxPool");
  node.input(u8({1, 1, 1}, {1}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got uint8");
}

}  // namespace
}  // namespace etch
