// Weights of two channels share halfwords where, and only where, both sums can be told apart.
#include "compiler/kernels/conv/dsp/joint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace etch {
namespace {

constexpr int kElements = 600;  // of K
constexpr float kLeastScale = 256 * std::numeric_limits<float>::min();

// 1 x 1, two channels with these weights everywhere, zero point 0.
ConvProblem problem(int first, int second, std::int32_t second_bias = 0, float scale = 0.01F) {
  ConvProblem out;
  out.geometry.in_channels = kElements;
  out.geometry.out_channels = 2;
  out.geometry.axes = {ConvAxis{}, ConvAxis{}};
  out.weights.assign(kElements, first);
  out.weights.insert(out.weights.end(), kElements, second);
  out.bias = {INT32_MAX, second_bias};  // the first sum may be any
  out.scale = {0.0F, scale};
  return out;
}

DspConvPlan plan(int result = rt::kDspFloat, int words = kElements / 4) {
  DspConvPlan out;
  out.words = words;
  out.store.result = result;
  return out;
}

TEST(JointWeights, FitAHalfword) {
  EXPECT_TRUE(has_joint_weights(problem(-128, -1), plan()));
  EXPECT_TRUE(has_joint_weights(problem(127, 54), plan()));
  ConvProblem one = problem(1, 1);
  one.weights[kElements + 7] = -128;
  EXPECT_TRUE(has_joint_weights(one, plan()));
  one.weights[7] = -1;
  EXPECT_FALSE(has_joint_weights(one, plan()));
  one.weights[kElements + 7] = -127;
  EXPECT_TRUE(has_joint_weights(one, plan()));
}

// 255 * 54 * 600 = 8,262,000; 2^23 = 8,388,608.
TEST(JointWeights, NeedSecondSumsOf24Bits) {
  EXPECT_TRUE(has_joint_weights(problem(0, 54, 126'607), plan()));
  EXPECT_FALSE(has_joint_weights(problem(0, 54, 126'608), plan()));
  EXPECT_TRUE(has_joint_weights(problem(0, -54, -126'608), plan()));
  EXPECT_FALSE(has_joint_weights(problem(0, -54, -126'609), plan()));
  EXPECT_TRUE(has_joint_weights(problem(127, 0), plan()));
}

TEST(JointWeights, NeedScalesThatCanBeDivided) {
  EXPECT_TRUE(has_joint_weights(problem(1, 1, 0, kLeastScale), plan()));
  EXPECT_FALSE(has_joint_weights(problem(1, 1, 0, kLeastScale / 2), plan()));
  EXPECT_TRUE(has_joint_weights(problem(1, 1, 0, kLeastScale / 2), plan(rt::kDspHigh)));
}

TEST(JointWeights, AreForTilesAndRowsOfWeightsThatAreNotMoved) {
  DspConvPlan each = plan();
  each.form = DspConvPlan::Form::kRow;
  EXPECT_TRUE(has_joint_weights(problem(1, 1), each));
  each.form = DspConvPlan::Form::kDepthwise;
  EXPECT_FALSE(has_joint_weights(problem(1, 1), each));
  each.form = DspConvPlan::Form::kDirect;
  EXPECT_FALSE(has_joint_weights(problem(1, 1), each));
  each = plan();
  each.moved = 3;
  EXPECT_FALSE(has_joint_weights(problem(1, 1), each));
}

// Four sums of a second channel are separated by 4 or 8 instructions.
TEST(JointWeights, SaveMoreThanTheyCost) {
  EXPECT_FALSE(has_joint_weights(problem(1, 1), plan(rt::kDspFloat, 2)));
  EXPECT_TRUE(has_joint_weights(problem(1, 1), plan(rt::kDspFloat, 3)));
  EXPECT_FALSE(has_joint_weights(problem(1, 1), plan(rt::kDspInt32, 4)));
  EXPECT_TRUE(has_joint_weights(problem(1, 1), plan(rt::kDspInt32, 5)));
}

ConvProblem four_bits(int first, int second, std::int32_t second_bias = 0, float scale = 0.01F) {
  ConvProblem out = problem(first, second, second_bias, scale);
  out.four_bits = true;
  return out;
}

// What fills words up is 0, which is in every window.
TEST(NibbleWeights, FitAWindowOf16Values) {
  EXPECT_EQ(nibbles_moved(four_bits(-8, 7), plan()), -8);
  EXPECT_EQ(nibbles_moved(four_bits(-3, 2), plan()), -8);
  EXPECT_EQ(nibbles_moved(four_bits(-8, -8), plan()), -8);
  EXPECT_EQ(nibbles_moved(four_bits(-15, 0), plan()), -15);
  EXPECT_EQ(nibbles_moved(four_bits(-5, 10), plan()), -5);
  EXPECT_EQ(nibbles_moved(four_bits(0, 15), plan()), 0);
  EXPECT_EQ(nibbles_moved(four_bits(1, 15), plan()), 0);
  EXPECT_EQ(nibbles_moved(four_bits(-8, 8), plan()), std::nullopt);
  EXPECT_EQ(nibbles_moved(four_bits(1, 16), plan()), std::nullopt);
}

// 255 * 7 * 600 = 1,071,000; 2^27 = 134,217,728.
TEST(NibbleWeights, NeedSecondSumsOf28Bits) {
  EXPECT_TRUE(nibbles_moved(four_bits(0, 7, 133'146'727), plan()));
  EXPECT_FALSE(nibbles_moved(four_bits(0, 7, 133'146'728), plan()));
  EXPECT_TRUE(nibbles_moved(four_bits(0, -7, -133'146'728), plan()));
  EXPECT_FALSE(nibbles_moved(four_bits(0, -7, -133'146'729), plan()));
}

TEST(NibbleWeights, NeedScalesThatCanBeDivided) {
  EXPECT_TRUE(nibbles_moved(four_bits(1, 1, 0, kLeastScale / 16), plan()));
  EXPECT_FALSE(nibbles_moved(four_bits(1, 1, 0, kLeastScale / 32), plan()));
  EXPECT_TRUE(nibbles_moved(four_bits(1, 1, 0, kLeastScale / 32), plan(rt::kDspHigh)));
}

TEST(NibbleWeights, AreForFilesThatStoreThemSoAndForSmallCode) {
  EXPECT_FALSE(nibbles_moved(problem(1, 1), plan()));
  DspConvPlan small = plan();
  small.compact = true;
  EXPECT_TRUE(nibbles_moved(problem(1, 1), small));
  ConvProblem few = problem(1, 1);
  few.geometry.in_channels = 8;
  few.weights.assign(16, 1);
  EXPECT_FALSE(nibbles_moved(few, small));
  few.four_bits = true;
  EXPECT_TRUE(nibbles_moved(few, small));
  small.form = DspConvPlan::Form::kDepthwise;
  EXPECT_FALSE(nibbles_moved(four_bits(1, 1), small));
}

// The last channel of an odd number has a block of its own.
TEST(JointWeights, AreOfPairsWithinAGroup) {
  ConvProblem odd = problem(-128, -128);
  EXPECT_FALSE(has_joint_weights(odd, plan()));
  odd.geometry.out_channels = 1;
  EXPECT_TRUE(has_joint_weights(odd, plan()));
  odd.geometry.out_channels = 2;
  odd.geometry.group = 2;
  odd.geometry.in_channels = 2 * kElements;
  EXPECT_TRUE(has_joint_weights(odd, plan()));
}

}  // namespace
}  // namespace etch
