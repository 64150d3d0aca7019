// Relu, LeakyRelu, Sigmoid at their special values.
#include "compiler/ops/activation/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor activated(const std::string& type, const Tensor& x) {
  OneNode node(type);
  node.input(x);
  return node.run().at(0);
}

TEST(Activation, ReluKeepsWhatIsNotNegative) {
  EXPECT_EQ(activated("Relu", f32({4}, {-1, -0.0F, 0, 2})), f32({4}, {0, -0.0F, 0, 2}));
}

TEST(Activation, LeakyReluScalesNegatives) {
  OneNode node("LeakyRelu");
  node.input(f32({3}, {-2, -0.0F, 4})).attribute("alpha", 0.25F);
  EXPECT_EQ(node.run().at(0), f32({3}, {-0.5F, -0.0F, 4}));
  EXPECT_EQ(activated("LeakyRelu", f32({1}, {-1})), f32({1}, {-0.01F}));
}

TEST(Activation, SigmoidStaysWithinItsLimits) {
  EXPECT_EQ(activated("Sigmoid", f32({3}, {0, -INFINITY, INFINITY})).real(0), 0.5F);
  for (float x = -30; x <= 30; x += 0.125F) {
    const float y = sigmoid_f32(x);
    EXPECT_GE(y, 0.0F);
    EXPECT_LE(y, 1.0F);
    EXPECT_NEAR(y, 1 / (1 + std::exp(-static_cast<double>(x))), 2e-7) << x;
  }
}

TEST(Activation, RoundTakesTiesToEven) {
  OneNode node("Round");
  node.input(f32({6}, {0.5F, 1.5F, -0.5F, -2.5F, 2.4F, 8388609}));
  const Tensor y = node.run().at(0);
  EXPECT_EQ(y, f32({6}, {0, 2, -0.0F, -2, 2, 8388609}));
  EXPECT_TRUE(std::signbit(y.real(2)));
}

TEST(Activation, TypesOtherThanFloatAreRefused) {
  OneNode node("Relu");
  node.input(u8({1}, {1}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got uint8");
}

TEST(Activation, AlphaMustBeFinite) {
  OneNode node("LeakyRelu");
  node.input(counting({1})).attribute("alpha", INFINITY);
  EXPECT_EQ(node.errors(), "E-ATTR: must be finite");
}

}  // namespace
}  // namespace etch
