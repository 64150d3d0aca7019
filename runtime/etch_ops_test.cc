// QLinearSoftmax where its quotient leaves int32; ordinary values are compared with ONNX Runtime's
// by tests/recorded/recorded_contrib_test.cc and with the reference function by
// tests/engines/engines_agree_test.cc.
#include "runtime/etch_ops.h"

#include <gtest/gtest.h>

#include <limits>

namespace etch::rt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(SoftmaxByte, SaturatesAboveWithinInt32) {
  EXPECT_EQ(softmax_byte(2.5F, 1, 0), 3);
  EXPECT_EQ(softmax_byte(300.0F, 0, 0), 255);
  EXPECT_EQ(softmax_byte(300.0F, -128, 128), 255);
  EXPECT_EQ(softmax_byte(0.0F, -128, 128), 0);
}

TEST(SoftmaxByte, QuotientsBeyondInt32CountAsTheLeastInteger) {
  for (const float share : {2147483648.0F, kInfinity}) {
    EXPECT_EQ(softmax_byte(share, 0, 0), 0) << share;
    EXPECT_EQ(softmax_byte(share, 7, 0), 7) << share;
    EXPECT_EQ(softmax_byte(share, 5, 128), 0) << share;
    EXPECT_EQ(softmax_byte(share, -1, 128), 255) << share;
  }
}

}  // namespace
}  // namespace etch::rt
