// Arithmetic: broadcasting, integers at their limits, Mod, Mean.
#include "compiler/ops/arithmetic/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

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

TEST(Arithmetic, SumsAreThereInEveryOperatorSetThatIsRead) {
  for (const char* const type : {"Sum", "Max", "Min", "Mean"})
    EXPECT_EQ(OneNode(type, "", 7).input(f32({1}, {2})).input(f32({1}, {4})).errors(), "") << type;
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

TEST(Arithmetic, NarrowIntegersWrap) {
  EXPECT_EQ(compute("Add", u8({2}, {255, 3}), u8({2}, {2, 4})), u8({2}, {1, 7}));
  EXPECT_EQ(compute("Div", s8({2}, {-128, 7}), s8({2}, {-1, 0})), s8({2}, {-128, 0}));
  EXPECT_EQ(compute("Max", s8({2}, {-128, 7}), s8({1}, {-1})), s8({2}, {-1, 7}));
}

Tensor modulo(const Tensor& a, const Tensor& b, std::int64_t fmod) {
  OneNode node("Mod");
  node.input(a).input(b).attribute("fmod", fmod);
  return node.run().at(0);
}

TEST(Mod, TakesTheSignOfTheDivisorOrOfTheDividend) {
  const Tensor a = s32({6}, {-4, 7, 5, 4, -7, 8});
  const Tensor b = s32({6}, {2, -3, 8, -2, 3, 5});
  EXPECT_EQ(modulo(a, b, 0), s32({6}, {0, -2, 5, 0, 2, 3}));
  EXPECT_EQ(modulo(a, b, 1), s32({6}, {0, 1, 5, 0, -1, 3}));
}

TEST(Mod, IsExactOnFloats) {
  EXPECT_EQ(modulo(f32({4}, {-4.25F, 7.5F, 5, 1e10F}), f32({4}, {2, -3.25F, 8, 3}), 1),
            f32({4}, {-0.25F, 1, 5, 1}));
}

TEST(Mod, NeverTraps) {
  EXPECT_EQ(modulo(s64({3}, {INT64_MIN, 5, -5}), s64({3}, {-1, 0, 0}), 0), s64({3}, {0, 0, 0}));
  EXPECT_EQ(modulo(u8({2}, {200, 7}), u8({2}, {255, 0}), 0), u8({2}, {200, 0}));
}

TEST(Mod, OfFloatsNeedsFmod) {
  OneNode node("Mod");
  node.input(f32({1}, {1})).input(f32({1}, {1}));
  EXPECT_EQ(node.errors(), "E-ATTR: must be 1 for float32, got 0");
}

TEST(Mean, MultipliesTheSumByTheShare) {
  OneNode node("Mean");
  node.input(f32({2}, {1, 7})).input(f32({}, {2})).input(f32({2}, {4, 0}));
  EXPECT_EQ(node.run().at(0), f32({2}, {7 * (1.0F / 3), 9 * (1.0F / 3)}));
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
  OneNode halves("Add");
  halves.input(Tensor(DType::kF16, {1})).input(Tensor(DType::kF16, {1}));
  EXPECT_EQ(halves.errors(),
            "E-TYPE: must be float32, int32, int64, uint8, int8, uint16, int16, "
            "uint32, uint64, got float16");
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
