// Facts about etch_soft_float.h: the same bits as this machine's floats, for random operands of all
// kinds and for those near ties, and one upper half of a product whichever way it is taken. Random
// numbers come from a fixed seed.
#include "runtime/etch_soft_float.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace etch::rt {
namespace {

using Random = std::mt19937_64;

// Equal bits, or both NaN.
bool same(float a, float b) { return (is_nan(a) && is_nan(b)) || float_bits(a) == float_bits(b); }

// Any bits, or an exponent near 1 with a short or a long fraction.
float any_float(Random& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  const auto kind = random() % 4u;
  if (kind == 0u) return bits_float(bits);
  const std::uint32_t fraction = kind == 1u ? bits & 0x7ff000u : bits & 0x7fffffu;
  const auto exponent = static_cast<std::uint32_t>(100u + random() % 54u);
  return bits_float((bits & 0x80000000u) | (exponent << 23) | fraction);
}

TEST(SoftFloat, SumsAndProductsAreThoseOfThisMachine) {
  Random random(1);
  for (int i = 0; i < 3000000; ++i) {
    const float a = any_float(random);
    // Of every fourth pair, the second is the first with another sign and a few last places.
    const float b =
        random() % 4u != 0u
            ? any_float(random)
            : bits_float(float_bits(a) ^ 0x80000000u ^ static_cast<std::uint32_t>(random() & 3u));
    ASSERT_TRUE(same(soft_sum(a, b), a + b)) << std::hexfloat << a << " + " << b;
    ASSERT_TRUE(same(soft_product(a, b), a * b)) << std::hexfloat << a << " * " << b;
  }
}

TEST(SoftFloat, TakesZerosSubnormalsAndInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float each[] = {0.0f,      -0.0f,     0x1p-149f, -0x1p-149f,   0x1p-126f,
                        0x1p-127f, 1.0f,      -1.0f,     0x1p-1f,      0x1.fffffep+127f,
                        infinity,  -infinity, 0x1p+127f, std::nanf("")};
  for (const float a : each) {
    for (const float b : each) {
      EXPECT_TRUE(same(soft_sum(a, b), a + b)) << a << " + " << b;
      EXPECT_TRUE(same(soft_product(a, b), a * b)) << a << " * " << b;
    }
  }
}

TEST(SoftFloat, TakesTheUpperHalfOfAProductOfPartsToo) {
  Random random(2);
  for (int i = 0; i < 1000000; ++i) {
    // Short factors leave nothing below, so that the lowest bit is not always one.
    const std::uint32_t mask = i % 2 == 0 ? 0xffffff00u : 0xfff00000u;
    const std::uint32_t a = static_cast<std::uint32_t>(random()) & mask;
    const std::uint32_t b = static_cast<std::uint32_t>(random()) & mask;
    const std::uint64_t product = std::uint64_t{a} * b;
    const auto upper = static_cast<std::uint32_t>(product >> 32);
    const bool has_rest = static_cast<std::uint32_t>(product) != 0u;
    ASSERT_EQ(upper_product(a, b), upper | (has_rest ? 1u : 0u)) << a << " * " << b;
    ASSERT_EQ(upper_product_of_parts(a, b), upper | (has_rest ? 1u : 0u)) << a << " * " << b;
  }
}

}  // namespace
}  // namespace etch::rt
