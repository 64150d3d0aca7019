// The ladder against the float rule, accumulator by accumulator.
#include "compiler/program/requantize/form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "compiler/ops/reference_math.h"
#include "runtime/etch_integer.h"

namespace etch {
namespace {

RequantizeChannel channel(float scale, int zero_point, std::int64_t least, std::int64_t most) {
  return {scale, -zero_point, 255 - zero_point, least, most};
}

std::uint8_t stored(const IntegerForm& form, const RequantizeChannel& c, std::int64_t acc) {
  const int q = std::clamp(evaluate(form, static_cast<std::int32_t>(acc)), c.low, c.high);
  return static_cast<std::uint8_t>(q - c.low);
}

std::uint8_t expected(const RequantizeChannel& c, std::int64_t acc) {
  return static_cast<std::uint8_t>(
      requantize(static_cast<std::int32_t>(acc), c.scale, -c.low, DType::kU8));
}

// Every accumulator of the interval.
std::int64_t differences(const RequantizeChannel& c, const IntegerForm& form) {
  std::int64_t count = 0;
  for (std::int64_t acc = c.least; acc <= c.most; ++acc)
    count += stored(form, c, acc) != expected(c, acc) ? 1 : 0;
  return count;
}

void expect_exact(const RequantizeChannel& c) {
  const IntegerForm form = choose_form(c);
  EXPECT_EQ(differences(c, form), 0)
      << name_of(form.rung) << " for scale " << c.scale << ", q in [" << c.low << ", " << c.high
      << "], accumulators in [" << c.least << ", " << c.most << "]";
}

float random_significand(std::mt19937& random) {
  return 1 + static_cast<float>(random() % (1U << 23)) * 0x1p-23F;
}

// A channel as networks have them: the interval holds some of the output's range.
RequantizeChannel plausible(std::mt19937& random, int exponent) {
  const float scale = std::ldexp(random_significand(random), exponent);
  const int zero_point = static_cast<int>(random() % 256);
  const auto reach = static_cast<std::int64_t>(300 / static_cast<double>(scale));
  const std::int64_t shift = static_cast<std::int64_t>(random() % 1000) * reach / 2000;
  return channel(scale, zero_point, -reach + shift, reach - shift / 2);
}

TEST(IntegerRequantization, EqualsTheFloatRuleOnWholeIntervalsOfPlausibleChannels) {
  std::mt19937 random(1);
  RungCounts counts;
  for (int exponent = -13; exponent <= -2; ++exponent) {
    for (int i = 0; i < 20; ++i) {
      const RequantizeChannel c = plausible(random, exponent);
      expect_exact(c);
      counts.add(choose_form(c));
    }
  }
  EXPECT_GT(counts.of(Rung::kMultiplyShift), 120);
  EXPECT_GT(counts.of(Rung::kExceptions), 10);
  EXPECT_GT(counts.of(Rung::kTiesToEven), 0);
}

TEST(IntegerRequantization, PowersOfTwoRoundTiesToEven) {
  for (int n = 1; n <= 12; ++n) {
    const RequantizeChannel c = channel(std::ldexp(1.0F, -n), 100, -1000 << n, 1000 << n);
    EXPECT_EQ(choose_form(c).rung, Rung::kTiesToEven);
    expect_exact(c);
  }
}

// Code on cores of 32 bits takes a multiplier and an odd offset of 1 as a promise.
TEST(IntegerRequantization, ShiftsAccumulatorsWhoseSumsFitInt32) {
  constexpr std::int64_t kMost = INT32_MAX;
  for (int n = 1; n <= 17; ++n) {
    const float scale = std::ldexp(1.0F, -n);
    const std::int64_t half = std::int64_t{1} << (n - 1);
    const Line inside = choose_form(channel(scale, 128, INT32_MIN, kMost - half)).line;
    EXPECT_EQ(inside.multiplier, 1) << n;
    EXPECT_EQ(inside.odd, 1) << n;
    EXPECT_EQ(inside.shift, n);
    EXPECT_EQ(inside.offset, half - 1);
    const Line beyond = choose_form(channel(scale, 128, 0, kMost - half + 1)).line;
    EXPECT_FALSE(beyond.multiplier == 1 && beyond.odd == 1) << n;
  }
  for (const float scale : {0x1p-54F, 0x1.8p-53F, 0x1.2p-40F}) {
    const IntegerForm form = choose_form(channel(scale, 128, -30000, 30000));
    EXPECT_EQ(form.rung, Rung::kMultiplyShift);
    EXPECT_EQ(form.line.odd, 0);
  }
}

TEST(IntegerRequantization, FewSignificantBitsRoundTiesToEven) {
  for (const int significand : {3, 5, 7, 11, 13, 99, 255}) {
    const float scale = std::ldexp(static_cast<float>(significand), -14);
    const RequantizeChannel c = channel(scale, 17, -70000, 80000);
    expect_exact(c);
    EXPECT_NE(choose_form(c).rung, Rung::kEmulation);
  }
}

// All thresholds are ties there, up to the rounding of the scale; which of them the float product
// hits depends on its exponent, and so no parity rule may hold.
TEST(IntegerRequantization, ReciprocalsOfEvenNumbers) {
  for (const int divisor : {10, 100, 500, 1234}) {
    const float scale = 1 / static_cast<float>(divisor);
    const RequantizeChannel c = channel(scale, 128, -130 * divisor, 130 * divisor);
    expect_exact(c);
  }
}

TEST(IntegerRequantization, WholeNumbersAsScaleNeedNoRounding) {
  for (const float scale : {1.0F, 2.0F, 3.0F, 100.0F}) {
    const RequantizeChannel c = channel(scale, 128, -5000, 5000);
    EXPECT_EQ(choose_form(c).rung, Rung::kMultiplyShift) << scale;
    expect_exact(c);
  }
}

TEST(IntegerRequantization, ScalesAboveOne) {
  std::mt19937 random(2);
  for (int exponent = -1; exponent < 16; ++exponent) {
    const float scale = std::ldexp(random_significand(random), exponent);
    expect_exact(channel(scale, 3, -3000, 3000));
  }
}

TEST(IntegerRequantization, ProductsBeyondInt32AreEmulated) {
  const RequantizeChannel c = channel(1e6F, 3, -100000, 100000);
  EXPECT_EQ(choose_form(c).rung, Rung::kEmulation);
  expect_exact(c);
}

TEST(IntegerRequantization, ScalesBeyondEveryMultiplierAreEmulated) {
  for (const float scale : {0x1p31F, 0x1p33F, 0x1p64F, 3e38F}) {
    const RequantizeChannel c = channel(scale, 3, INT32_MIN, INT32_MAX);
    EXPECT_EQ(choose_form(c).rung, Rung::kEmulation);
    expect_exact(channel(scale, 3, -1000, 1000));
  }
}

TEST(IntegerRequantization, DeadChannelsNeedOneLine) {
  const std::int64_t least = INT32_MIN;
  for (const float scale : {3e-24F, 1e-38F, 1e-45F}) {
    const RequantizeChannel c = channel(scale, 77, least, INT32_MAX);
    const IntegerForm form = choose_form(c);
    EXPECT_EQ(form.rung, Rung::kMultiplyShift);
    for (const std::int64_t acc : {least, least + 1, std::int64_t{0}, std::int64_t{INT32_MAX}})
      EXPECT_EQ(stored(form, c, acc), 77);
  }
}

TEST(IntegerRequantization, ZeroPointsAtTheLimits) {
  std::mt19937 random(3);
  for (const int zero_point : {0, 1, 254, 255}) {
    for (int exponent = -12; exponent < -2; ++exponent) {
      const float scale = std::ldexp(random_significand(random), exponent);
      const auto reach = static_cast<std::int64_t>(300 / static_cast<double>(scale));
      expect_exact(channel(scale, zero_point, -reach, reach));
    }
  }
}

TEST(IntegerRequantization, IntervalsOfOneAccumulator) {
  for (const std::int64_t acc : {-2000000000LL, -1LL, 0LL, 1LL, 12345LL, 2147483647LL})
    expect_exact(channel(0.0031F, 20, acc, acc));
}

TEST(IntegerRequantization, AFusedActivationNeedsFewerThresholds) {
  RequantizeChannel c = channel(0.00123F, 0, -200000, 200000);
  c.low = 40;
  c.high = 43;
  EXPECT_EQ(demands_of(c).reach.size(), 3U);
  const IntegerForm form = choose_form(c);
  for (std::int64_t acc = c.least; acc <= c.most; ++acc) {
    const int q = std::clamp(evaluate(form, static_cast<std::int32_t>(acc)), 40, 43);
    ASSERT_EQ(q, float_rule(c, acc)) << acc;
  }
}

// Beyond 2^24 the conversion to float rounds; the thresholds are too many to enumerate between.
TEST(IntegerRequantization, WideIntervalsAreRightAroundEveryThreshold) {
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    const float scale = std::ldexp(random_significand(random), -24 + i % 9);
    const RequantizeChannel c = channel(scale, 128, INT32_MIN, INT32_MAX);
    const IntegerForm form = choose_form(c);
    const Demands demands = demands_of(c);
    EXPECT_EQ(count_mismatches(form, c, demands), 0);
    for (const Demand& demand : demands.reach) {
      const std::int64_t from = std::max<std::int64_t>(demand.acc - 300, c.least);
      for (std::int64_t acc = from; acc <= std::min(from + 600, c.most); ++acc)
        ASSERT_EQ(stored(form, c, acc), expected(c, acc)) << scale << " " << acc;
    }
  }
}

TEST(IntegerRequantization, AWrongFormIsNoticed) {
  const RequantizeChannel c = channel(0.0123456F, 10, -30000, 30000);
  IntegerForm form = choose_form(c);
  ASSERT_EQ(count_mismatches(form, c, demands_of(c)), 0);
  form.line.offset += form.line.multiplier;
  EXPECT_GT(count_mismatches(form, c, demands_of(c)), 100);
  EXPECT_GT(differences(c, form), 100);
}

TEST(LineSearch, FindsTheFewestExceptions) {
  std::mt19937 random(5);
  int helped = 0;
  for (int i = 0; i < 100; ++i) {
    const RequantizeChannel c = plausible(random, -11);
    const IntegerForm form = choose_form(c);
    if (form.rung != Rung::kExceptions) continue;
    const auto fewer = static_cast<int>(form.exceptions.size()) - 1;
    EXPECT_FALSE(find_line(c, demands_of(c), Offsets::kOne, fewer));
    ++helped;
  }
  EXPECT_GT(helped, 5);
}

TEST(Demands, StandAtEveryChangeOfTheRule) {
  const RequantizeChannel c = channel(0.37F, 5, -100, 900);
  const Demands demands = demands_of(c);
  std::vector<std::int64_t> changes;
  for (std::int64_t acc = c.least + 1; acc <= c.most; ++acc) {
    if (float_rule(c, acc) != float_rule(c, acc - 1)) changes.push_back(acc);
  }
  ASSERT_EQ(changes.size(), demands.reach.size());
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(changes[i], demands.reach[i].acc);
}

TEST(EmulatedFloatProduct, EqualsFloatArithmetic) {
  std::mt19937 random(6);
  const auto check = [](std::int32_t acc, float scale) {
    const float product = static_cast<float>(acc) * scale;
    const float limit = 8388608.0F;
    const double rounded = std::nearbyint(std::clamp(product, -limit, limit));
    ASSERT_EQ(rt::float_product(acc, std::bit_cast<std::uint32_t>(scale)),
              static_cast<std::int32_t>(rounded))
        << acc << " * " << scale;
  };
  for (const std::int32_t acc : {0, 1, -1, INT32_MAX, INT32_MIN, 1 << 24, (1 << 24) + 1}) {
    for (const float scale : {0.5F, 1.5F, 1e-45F, 1e-30F, 3.4e38F, 0x1p-25F, 0x1p-31F, 0.25F})
      check(acc, scale);
  }
  for (int i = 0; i < 2000000; ++i) {
    const auto acc = static_cast<std::int32_t>(random()) >> (random() % 31);
    const auto exponent = static_cast<int>(random() % 60) - 40;
    float scale = std::ldexp(random_significand(random), exponent);
    if (i % 3 == 0) scale = std::ldexp(1.0F, exponent);
    if (i % 3 == 1 && acc != 0) {  // next to a tie
      const float tie = static_cast<float>(random() % 600) + 0.5F;
      scale = std::fabs(tie / static_cast<float>(acc));
    }
    check(acc, scale);
  }
}

}  // namespace
}  // namespace etch
