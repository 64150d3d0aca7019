// QLinearAdd and QLinearMul: rounding, roles, refusals. Random cases: recorded_contrib_test.
#include "compiler/ops/qlinear_binary/op.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode binary(const std::string& type, const Tensor& a, float a_scale, const Tensor& b,
               float b_scale, float c_scale, const Tensor& zero_point) {
  OneNode node(type, "com.microsoft", 1);
  node.input(a).constant(f32({}, {a_scale})).constant(zero_point);
  node.input(b).constant(f32({}, {b_scale})).constant(zero_point);
  node.constant(f32({}, {c_scale})).constant(zero_point);
  return node;
}

TEST(QLinearBinary, AddAddsRealValues) {
  OneNode node =
      binary("QLinearAdd", u8({3}, {10, 20, 255}), 1, u8({3}, {1, 2, 255}), 2, 1, u8({}, {0}));
  EXPECT_EQ(node.run().at(0), u8({3}, {12, 24, 255}));
}

TEST(QLinearBinary, ZeroPointIsAddedBeforeRounding) {
  // 0.5 + 1 = 1.5 rounds to 2; 1.5 + 1 = 2.5 rounds to 2 as well.
  OneNode node = binary("QLinearAdd", s8({2}, {2, 4}), 0.5F, s8({2}, {1, 1}), 1, 1, s8({}, {1}));
  EXPECT_EQ(node.run().at(0), s8({2}, {2, 2}));
}

TEST(QLinearBinary, MulMultipliesRealValues) {
  OneNode node = binary("QLinearMul", s8({2}, {-3, 100}), 0.5F, s8({1}, {4}), 2, 1, s8({}, {0}));
  EXPECT_EQ(node.run().at(0), s8({2}, {-12, 127}));
}

TEST(QLinearBinary, ActivationsLimitTheResult) {
  for (const char* type : {"QLinearAdd", "QLinearMul"}) {
    OneNode node(type, "org.etch", 1);
    const Tensor one = f32({}, {1}), zero = s8({}, {0});
    node.input(s8({3}, {-9, 2, 50})).constant(one).constant(zero);
    node.input(s8({1}, {1})).constant(one).constant(zero).constant(one).constant(zero);
    node.attribute("clamp_low", std::int64_t{-3}).attribute("clamp_high", std::int64_t{20});
    const std::int8_t middle = type == std::string("QLinearAdd") ? 3 : 2;
    EXPECT_EQ(node.run().at(0), s8({3}, {-3, middle, 20})) << type;
  }
}

bool equals_floats_with(const char* type, float a, float b, float c, std::int8_t zero = 4) {
  OneNode node = binary(type, s8({1}, {0}), a, s8({1}, {0}), b, c, s8({}, {zero}));
  EXPECT_TRUE(node.resolve());
  return equals_floats(params_of<QLinearBinary>(node.node()));
}

TEST(QLinearBinary, EqualsFloatsWhereScalesArePowersOfTwo) {
  EXPECT_TRUE(equals_floats_with("QLinearAdd", 0.5F, 0.125F, 1));
  EXPECT_TRUE(equals_floats_with("QLinearMul", 0.5F, 0.125F, 1));
  // QuantizeLinear adds an odd zero point after ties have gone to even, the operators before.
  EXPECT_FALSE(equals_floats_with("QLinearAdd", 0.5F, 0.125F, 1, 3));
  EXPECT_FALSE(equals_floats_with("QLinearMul", 0.5F, 0.125F, 1, 3));
  EXPECT_FALSE(equals_floats_with("QLinearAdd", 0.3F, 0.1F, 0.4F));
  EXPECT_FALSE(equals_floats_with("QLinearMul", 0.3F, 0.1F, 0.3F));
}

TEST(QLinearBinary, SumsBeyondInt32SaturateAndProductsGiveTheLeastValue) {
  for (const char* type : {"QLinearAdd", "QLinearMul"}) {
    OneNode node =
        binary(type, s8({3}, {127, -128, 0}), 1e9F, s8({1}, {1}), 1e9F, 1e-3F, s8({}, {0}));
    const Tensor y = node.run().at(0);
    EXPECT_EQ(y.as<std::int8_t>()[0], type == std::string("QLinearAdd") ? 127 : -128) << type;
    EXPECT_EQ(y.as<std::int8_t>()[1], -128) << type;
  }
}

TEST(QLinearBinary, SumsMustStayInFloat32) {
  OneNode node = binary("QLinearAdd", u8({1}, {1}), 1, u8({1}, {1}), 1, 1e-37F, u8({}, {0}));
  EXPECT_EQ(node.errors(),
            "E-QUANT: sums of two elements, in steps of the output, must be finite in float32");
  OneNode product = binary("QLinearMul", u8({1}, {1}), 1, u8({1}, {1}), 1, 1e-37F, u8({}, {0}));
  EXPECT_EQ(product.errors(), "");
}

TEST(QLinearBinary, OperandsTradePlacesWhenTheFirstBroadcastsInside) {
  const auto swapped = [](const Shape& a, const Shape& b) {
    OneNode node =
        binary("QLinearAdd", Tensor(DType::kU8, a), 1, Tensor(DType::kU8, b), 1, 1, u8({}, {0}));
    EXPECT_TRUE(node.resolve());
    return params_of<QLinearBinary>(node.node()).swapped;
  };
  EXPECT_FALSE(swapped({2, 3}, {2, 3}));
  EXPECT_FALSE(swapped({2, 3}, {1}));
  EXPECT_TRUE(swapped({1}, {2, 3}));
  EXPECT_TRUE(swapped({}, {3}));
  EXPECT_FALSE(swapped({3}, {}));
  EXPECT_TRUE(swapped({3, 1, 1}, {3, 4, 1}));  // the innermost axis that is not 1 on both sides
  EXPECT_FALSE(swapped({1, 4}, {3, 4}));
}

TEST(QLinearBinary, ShapesMustBroadcast) {
  OneNode node = binary("QLinearMul", u8({2}, {1, 2}), 1, u8({3}, {1, 2, 3}), 1, 1, u8({}, {0}));
  EXPECT_EQ(node.errors(), "E-SHAPE: shapes [2] and [3] do not broadcast");
}

TEST(QLinearBinary, TypesMustBeEqual) {
  OneNode node = binary("QLinearAdd", u8({1}, {1}), 1, s8({1}, {1}), 1, 1, u8({}, {0}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be uint8, got int8");
  OneNode wide = binary("QLinearAdd", s32({1}, {1}), 1, s32({1}, {1}), 1, 1, s32({}, {0}));
  EXPECT_EQ(wide.errors(), "E-TYPE: must be uint8, int8, got int32");
}

TEST(QLinearBinary, ZeroPointsMayBeOmitted) {
  OneNode node("QLinearAdd", "com.microsoft", 1);
  node.input(u8({1}, {5})).constant(f32({}, {1})).omitted();
  node.input(u8({1}, {6})).constant(f32({}, {1})).omitted().constant(f32({}, {1}));
  EXPECT_EQ(node.run().at(0), u8({1}, {11}));
}

TEST(QLinearBinary, OtherInputsMayNot) {
  OneNode second("QLinearAdd", "com.microsoft", 1);
  second.input(u8({1}, {5})).constant(f32({}, {1}));
  EXPECT_EQ(second.errors(), "E-GRAPH: input 3 (B) is missing");
  OneNode scale("QLinearAdd", "com.microsoft", 1);
  scale.input(u8({1}, {5})).constant(f32({}, {1})).omitted();
  scale.input(u8({1}, {6})).constant(f32({}, {1}));
  EXPECT_EQ(scale.errors(), "E-GRAPH: input 6 (C_scale) is missing");
}

TEST(QLinearBinary, ScalesAndZeroPointsMayArriveAtRunTime) {
  for (const char* type : {"QLinearAdd", "QLinearMul"}) {
    const Tensor a = u8({3}, {1, 50, 255});
    const Tensor b = u8({3}, {7, 60, 200});
    OneNode known = binary(type, a, 0.5F, b, 0.25F, 2, u8({}, {9}));
    OneNode later(type, "com.microsoft", 1);
    const Tensor zero = u8({}, {9});
    later.input(a).input(f32({}, {0.5F})).input(zero).input(b).constant(f32({}, {0.25F}));
    later.constant(zero).constant(f32({}, {2})).input(zero);
    EXPECT_EQ(later.run(), known.run()) << type;
  }
}

TEST(QLinearBinary, ScalesMustBeUsable) {
  OneNode missing("QLinearAdd", "com.microsoft", 1);
  missing.input(u8({1}, {1})).input(f32({}, {1})).omitted().input(u8({1}, {1}));
  missing.constant(f32({}, {1}));
  EXPECT_EQ(missing.errors(), "E-GRAPH: input 6 (C_scale) is missing");
  OneNode zero = binary("QLinearMul", u8({1}, {1}), 0, u8({1}, {1}), 1, 1, u8({}, {0}));
  EXPECT_EQ(zero.errors(), "E-QUANT: must be finite and > 0, got 0");
  OneNode ratio = binary("QLinearAdd", u8({1}, {1}), 1e30F, u8({1}, {1}), 1, 1e-30F, u8({}, {0}));
  EXPECT_EQ(ratio.errors(),
            "E-QUANT: the ratio of input and output scales must be finite in float32");
}

}  // namespace
}  // namespace etch
