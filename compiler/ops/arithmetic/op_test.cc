// Add, Sub, Mul, Div: broadcasting, and integers at their limits.
#include "compiler/ops/arithmetic/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/one_node.h"
#include "tests/tensors.h"

namespace etch {
namespace {

Tensor compute(const std::string& type, const Tensor& a, const Tensor& b) {
  OneNode node(type);
  node.input(a).input(b);
  return node.run().at(0);
}

TEST(Arithmetic, Computes) {
  const Tensor a = f32({3}, {6, -1.5F, 0});
  const Tensor b = f32({3}, {3, 0.5F, 2});
  EXPECT_EQ(compute("Add", a, b), f32({3}, {9, -1, 2}));
  EXPECT_EQ(compute("Sub", a, b), f32({3}, {3, -2, -2}));
  EXPECT_EQ(compute("Mul", a, b), f32({3}, {18, -0.75F, 0}));
  EXPECT_EQ(compute("Div", a, b), f32({3}, {2, -3, 0}));
}

TEST(Arithmetic, Broadcasts) {
  EXPECT_EQ(compute("Add", f32({2, 1}, {10, 20}), counting({3})),
            f32({2, 3}, {10, 11, 12, 20, 21, 22}));
  EXPECT_EQ(compute("Sub", f32({}, {1}), counting({2})), f32({2}, {1, 0}));
  EXPECT_EQ(compute("Mul", counting({1, 0}), counting({3, 1})), counting({3, 0}));
}

TEST(Arithmetic, SomeTakeAnyNumberOfInputs) {
  OneNode sum("Sum");
  sum.input(f32({2}, {1, 2})).input(f32({}, {10})).input(f32({1, 2}, {100, 200}));
  EXPECT_EQ(sum.run().at(0), f32({1, 2}, {111, 212}));
  OneNode most("Max");
  most.input(s32({2}, {1, 9})).input(s32({2}, {5, 2})).input(s32({2}, {3, 3}));
  EXPECT_EQ(most.run().at(0), s32({2}, {5, 9}));
  OneNode one("Min");
  one.input(f32({2}, {1, 2}));
  EXPECT_EQ(one.run().at(0), f32({2}, {1, 2}));
}

TEST(Arithmetic, OthersTakeTwoInputs) {
  OneNode one("Add");
  one.input(f32({1}, {1}));
  EXPECT_EQ(one.errors(), "E-GRAPH: must have 2 inputs, has 1");
  OneNode gap("Max");
  gap.input(f32({1}, {1})).omitted().input(f32({1}, {1}));
  EXPECT_EQ(gap.errors(), "E-GRAPH: input 1 is required, but omitted");
  OneNode integers("Sum");
  integers.input(s32({1}, {1}));
  EXPECT_EQ(integers.errors(), "E-TYPE: must be float32, got int32");
}

TEST(Arithmetic, IntegersWrap) {
  EXPECT_EQ(compute("Add", s32({1}, {INT32_MAX}), s32({1}, {1})), s32({1}, {INT32_MIN}));
  EXPECT_EQ(compute("Mul", s32({1}, {65536}), s32({1}, {65537})), s32({1}, {65536}));
  EXPECT_EQ(compute("Sub", s64({1}, {INT64_MIN}), s64({1}, {1})), s64({1}, {INT64_MAX}));
}

TEST(Arithmetic, IntegerDivisionTruncatesAndNeverTraps) {
  EXPECT_EQ(compute("Div", s32({3}, {-7, 7, 1}), s32({3}, {2, -2, 0})), s32({3}, {-3, -3, 0}));
  EXPECT_EQ(compute("Div", s64({1}, {INT64_MIN}), s64({1}, {-1})), s64({1}, {INT64_MIN}));
}

TEST(Arithmetic, ConstantIntegerDivisorZeroIsRefused) {
  OneNode node("Div");
  node.input(s64({2}, {1, 2})).constant(s64({2}, {1, 0}));
  EXPECT_EQ(node.errors(), "E-TENSOR: must not hold 0, the divisor of integers");
}

TEST(Arithmetic, ShapesMustBroadcast) {
  OneNode node("Add");
  node.input(counting({2})).input(counting({3}));
  EXPECT_EQ(node.errors(), "E-SHAPE: shapes [2] and [3] do not broadcast");
}

TEST(Arithmetic, TypesMustBeSupportedAndEqual) {
  OneNode bytes("Add");
  bytes.input(u8({1}, {1})).input(u8({1}, {1}));
  EXPECT_EQ(bytes.errors(), "E-TYPE: must be float32, int32, int64, got uint8");
  OneNode mixed("Mul");
  mixed.input(counting({1})).input(s32({1}, {1}));
  EXPECT_EQ(mixed.errors(), "E-TYPE: inputs must have one element type, got float32 and int32");
}

TEST(Arithmetic, MaxAndMinBroadcastAndKeepNan) {
  const float nan = std::nanf("");
  for (const char* type : {"Max", "Min"}) {
    const bool max = std::string(type) == "Max";
    OneNode node(type);
    node.input(f32({3}, {1, -2, nan})).input(f32({}, {0}));
    const Tensor y = node.run().at(0);
    EXPECT_EQ(y.real(0), max ? 1.0F : 0.0F);
    EXPECT_EQ(y.real(1), max ? 0.0F : -2.0F);
    EXPECT_TRUE(std::isnan(y.real(2)));
  }
}

}  // namespace
}  // namespace etch
