// Functions of one float: special values, attributes, refusals. Accuracy over dense samples is
// tested with runtime/etch_functions.h.
#include "compiler/ops/float_function/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr float kInfinity = INFINITY;

Tensor computed(const std::string& type, const Tensor& x, std::int64_t opset = 20,
                const std::string& domain = "") {
  OneNode node(type, domain, opset);
  node.input(x);
  return node.run().at(0);
}

TEST(FloatFunction, ExactOnes) {
  const Tensor x = f32({4}, {-1.5F, -0.0F, 0.25F, 7});
  EXPECT_EQ(computed("Abs", x), f32({4}, {1.5F, 0, 0.25F, 7}));
  EXPECT_EQ(computed("Ceil", x), f32({4}, {-1, -0.0F, 1, 7}));
  EXPECT_EQ(computed("Floor", x), f32({4}, {-2, -0.0F, 0, 7}));
  EXPECT_EQ(computed("Neg", x), f32({4}, {1.5F, 0, -0.25F, -7}));
  EXPECT_EQ(computed("Sign", x), f32({4}, {-1, 0, 1, 1}));
  EXPECT_EQ(computed("Reciprocal", f32({2}, {4, -0.5F})), f32({2}, {0.25F, -2}));
  EXPECT_EQ(computed("Sqrt", f32({4}, {0, 2.25F, 1e-40F, kInfinity})),
            f32({4}, {0, 1.5F, std::sqrt(1e-40F), kInfinity}));
  EXPECT_EQ(computed("Softsign", f32({2}, {1, -3})), f32({2}, {0.5F, -0.75F}));
}

TEST(FloatFunction, LimitsOfTheOthers) {
  EXPECT_EQ(computed("Exp", f32({3}, {0, -kInfinity, kInfinity})), f32({3}, {1, 0, kInfinity}));
  EXPECT_EQ(computed("Log", f32({3}, {1, 0, kInfinity})), f32({3}, {0, -kInfinity, kInfinity}));
  EXPECT_EQ(computed("Erf", f32({3}, {0, -9, 9})), f32({3}, {0, -1, 1}));
  EXPECT_EQ(computed("Tanh", f32({1}, {0})), f32({1}, {0}));
  EXPECT_EQ(computed("Softplus", f32({2}, {100, -200})), f32({2}, {100, 0}));
  EXPECT_EQ(computed("Gelu", f32({2}, {0, 100})), f32({2}, {0, 100}));
  EXPECT_EQ(computed("Gelu", f32({2}, {0, 100}), 1, "com.microsoft"), f32({2}, {0, 100}));
  EXPECT_EQ(computed("QuickGelu", f32({2}, {0, 100}), 1, "com.microsoft"), f32({2}, {0, 100}));
  EXPECT_EQ(computed("Mish", f32({2}, {0, 100})), f32({2}, {0, 100}));
}

TEST(FloatFunction, HardSigmoidIsALimitedLine) {
  EXPECT_EQ(computed("HardSigmoid", f32({4}, {-9, 0, 1, 9})), f32({4}, {0, 0.5F, 0.7F, 1}));
  OneNode node("HardSigmoid");
  node.input(f32({1}, {1})).attribute("alpha", 0.25F).attribute("beta", 0.125F);
  EXPECT_EQ(node.run().at(0), f32({1}, {0.375F}));
}

TEST(FloatFunction, HardSwishIsXTimesALimitedLine) {
  EXPECT_EQ(computed("HardSwish", f32({4}, {-3, 0, 3, 4})), f32({4}, {-0.0F, 0, 3, 4}));
}

TEST(FloatFunction, BranchesMeetAtZero) {
  EXPECT_EQ(computed("Elu", f32({3}, {-kInfinity, 0, 5})), f32({3}, {-1, 0, 5}));
  EXPECT_EQ(computed("Celu", f32({3}, {-kInfinity, 0, 5})), f32({3}, {-1, 0, 5}));
  EXPECT_EQ(computed("ThresholdedRelu", f32({3}, {-1, 1, 1.5F})), f32({3}, {0, 0, 1.5F}));
  EXPECT_EQ(computed("Selu", f32({2}, {0, 1})), f32({2}, {0, 1.05070102F}));
}

TEST(FloatFunction, SomeTakeIntegers) {
  EXPECT_EQ(computed("Abs", s32({2}, {-5, INT32_MIN})), s32({2}, {5, INT32_MIN}));
  EXPECT_EQ(computed("Neg", s64({2}, {-5, 7})), s64({2}, {5, -7}));
  EXPECT_EQ(computed("Sign", s64({3}, {-5, 0, 7})), s64({3}, {-1, 0, 1}));
  OneNode node("Floor");
  node.input(s32({1}, {1}));
  EXPECT_EQ(node.errors(), "E-TYPE: must be float32, got int32");
}

TEST(FloatFunction, AttributesMustBeUsable) {
  OneNode infinite("Elu");
  infinite.input(counting({1})).attribute("alpha", kInfinity);
  EXPECT_EQ(infinite.errors(), "E-ATTR: must be finite");
  OneNode zero("Celu");
  zero.input(counting({1})).attribute("alpha", 0.0F);
  EXPECT_EQ(zero.errors(), "E-ATTR: must not be 0");
  OneNode gelu("Gelu", "", 20);
  gelu.input(counting({1})).attribute("approximate", std::string("cubic"));
  EXPECT_EQ(gelu.errors(), "E-ATTR: must be none or tanh, got 'cubic'");
}

}  // namespace
}  // namespace etch
