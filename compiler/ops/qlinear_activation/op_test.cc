// QLinearSigmoid and QLinearLeakyRelu.
#include "compiler/ops/qlinear_activation/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode activation(const std::string& type, const Tensor& x, float y_scale) {
  OneNode node(type, "com.microsoft", 1);
  node.input(x).constant(f32({}, {0.5F})).constant(s8({}, {0}));
  node.constant(f32({}, {y_scale})).constant(s8({}, {0}));
  return node;
}

TEST(QLinearActivation, LeakyReluScalesNegatives) {
  OneNode node = activation("QLinearLeakyRelu", s8({3}, {-100, 0, 100}), 0.5F);
  node.attribute("alpha", 0.1F);
  EXPECT_EQ(node.run().at(0), s8({3}, {-10, 0, 100}));
}

TEST(QLinearActivation, SigmoidOfZeroIsOneHalf) {
  OneNode node = activation("QLinearSigmoid", s8({3}, {0, 127, -128}), 1.0F / 128);
  EXPECT_EQ(node.run().at(0), s8({3}, {64, 127, 0}));
}

TEST(QLinearActivation, AlphaMustBeFinite) {
  OneNode node = activation("QLinearLeakyRelu", s8({1}, {1}), 1);
  node.attribute("alpha", INFINITY);
  EXPECT_EQ(node.errors(), "E-ATTR: must be finite");
}

TEST(QLinearActivation, TypesMustBeEightBits) {
  EXPECT_EQ(activation("QLinearSigmoid", counting({1}), 1).errors(),
            "E-TYPE: must be uint8, int8, got float32");
}

}  // namespace
}  // namespace etch
