// Both ways of adding a product give what their definition says, with any number of lanes, also
// where products are halfway between two floats, subnormal or 0; and sums of them end as +0.
#include "runtime/etch_float_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/etch_float_products.h"

namespace etch::rt {
namespace {

const std::vector<float>& edges() {
  static const std::vector<float> kEdges{1.0F,      -1.0F,      0x1.000002p0F, -0x1.fffffep-1F,
                                         0x1p-24F,  -0x1p-24F,  0x1.8p-24F,    0x1p-75F,
                                         -0x1p-75F, 0x1.8p-75F, 0x1p-126F,     -0x1p-149F,
                                         0x1p60F,   0.0F,       -0.0F,         0x1.234568p3F};
  return kEdges;
}

float separately(float so_far, float x, float w) {
  const float product = opaque(x * w);
  return so_far + product;
}

template <class Steps, int lanes>
std::uint32_t bits_of_step(float so_far, float x, float w, int lane) {
  const Floats<lanes> start = all_lanes<lanes>(so_far), weights = all_lanes<lanes>(w);
  const Floats<lanes> vector = Steps::add(start, all_lanes<lanes>(x), weights);
  const Floats<lanes> one = Steps::add_one(start, &x, weights);
  constexpr auto kLanes = static_cast<std::size_t>(lanes);
  float each[kLanes], of_one[kLanes];
  store(each, vector);
  store(of_one, one);
  EXPECT_EQ(float_bits(each[lane]), float_bits(of_one[lane]));
  return float_bits(each[lane]);
}

template <int lanes>
void expect_steps(float so_far, float x, float w) {
  const std::uint32_t separate = float_bits(separately(so_far, x, w));
  const std::uint32_t once = float_bits(std::fma(x, w, so_far));
  EXPECT_EQ((bits_of_step<Separate, lanes>(so_far, x, w, 0)), separate) << so_far << x << w;
  EXPECT_EQ((bits_of_step<Fused, lanes>(so_far, x, w, lanes - 1)), once) << so_far << x << w;
}

TEST(FloatSteps, RoundTwiceOrOnceWithAnyNumberOfLanes) {
  int differ = 0;
  for (const float so_far : edges()) {
    for (const float x : edges()) {
      for (const float w : edges()) {
        expect_steps<1>(so_far, x, w);
        expect_steps<4>(so_far, x, w);
        expect_steps<kFloatLanes>(so_far, x, w);
        differ += separately(so_far, x, w) != std::fma(x, w, so_far) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(differ, 40);
}

// A product of one row and one column, and of the same with products with 0 after it.
template <class Steps>
float product_of(std::vector<float> x, std::vector<float> w) {
  FloatConvShape s{};
  s.batch = s.group = 1;
  s.in = static_cast<std::int32_t>(x.size());
  s.out = 1;
  s.x_channel = s.y_channel = 1;
  s.along = 2;
  s.axis[0] = s.axis[1] = s.axis[2] = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  const float nothing = -0.0F;
  float y = 1;
  float_conv<Steps>(s, {1, 1, 0, 0, 0}, x.data(), w.data(), &nothing, &y);
  return y;
}

TEST(FloatSteps, EndSumsThatAreZeroWithoutASign) {
  EXPECT_EQ(float_bits(std::fma(-0x1p-80F, 0x1p-80F, 0.0F)), 0x80000000U);
  EXPECT_EQ(float_bits(product_of<Fused>({-0x1p-80F}, {0x1p-80F})), 0U);
  EXPECT_EQ(float_bits(product_of<Fused>({-0x1p-80F, 0}, {0x1p-80F, -1})), 0U);
  EXPECT_EQ(float_bits(product_of<Separate>({-0x1p-80F, 0}, {0x1p-80F, -1})), 0U);
}

TEST(FloatSteps, OfAProductAreThoseThatItsTemplateNames) {
  const float x = 0x1.000002p0F;
  EXPECT_EQ(product_of<Separate>({1, x}, {-0x1.000004p0F, x}), 0.0F);
  EXPECT_EQ(product_of<Fused>({1, x}, {-0x1.000004p0F, x}), 0x1p-46F);
}

}  // namespace
}  // namespace etch::rt
