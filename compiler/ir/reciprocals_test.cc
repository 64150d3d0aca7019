// Scales whose quotients are products.
#include "compiler/ir/reciprocals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace etch {
namespace {

Tensor scales(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(ExactReciprocals, AreThoseOfPowersOfTwo) {
  const std::optional<Tensor> found = exact_reciprocals(scales({0.25F, 1, 0x1p-126F, 0x1p126F}));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, scales({4, 1, 0x1p126F, 0x1p-126F}));
}

TEST(ExactReciprocals, AreOfAllScalesOrNone) {
  for (const float other : {0.75F, -0.5F, 0.0F, 0x1p-127F, 0x1p127F,
                            std::numeric_limits<float>::infinity(), std::nanf("")})
    EXPECT_FALSE(exact_reciprocals(scales({0.5F, other}))) << other;
  EXPECT_FALSE(exact_reciprocals(Tensor::of<std::int32_t>({1}, {2})));
}

}  // namespace
}  // namespace etch
