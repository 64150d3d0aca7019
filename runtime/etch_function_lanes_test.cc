// Functions of several floats at once against the same of one float, bit for bit, and both against
// the C library's in double precision, in units in the last place. ETCH_SWEEP=1: every float.
// tools/float-sweep runs the same for every instruction set of this machine.
#include "runtime/etch_function_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "runtime/etch_convert.h"
#include "runtime/etch_functions.h"
#include "runtime/etch_trigonometry_lanes.h"

namespace etch::rt {
namespace {

constexpr std::size_t kRow = 1024;
using Row = std::array<float, kRow>;

// Of 2^32 floats every so many'th.
std::uint64_t stride() { return std::getenv("ETCH_SWEEP") != nullptr ? 1 : 8191; }

template <class Visit>
void for_rows(Visit visit) {
  for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += kRow * stride()) {
    Row x;
    for (std::size_t i = 0; i < kRow; ++i)
      x[i] = bits_float(static_cast<std::uint32_t>(first + i * stride()));
    visit(x);
  }
}

bool same(float a, float b) { return is_nan(a) ? is_nan(b) : float_bits(a) == float_bits(b); }

template <class Function>
void expect_same_bits() {
  constexpr float kAlpha = 1.25F, kBeta = 0.5F;
  std::uint64_t differences = 0;
  for_rows([&](const Row& x) {
    Row y;
    apply<Function>(x.data(), 1, y.data(), kRow, kAlpha, kBeta);
    for (std::size_t i = 0; i < kRow; ++i)
      differences += same(y[i], Function::of(x[i], kAlpha, kBeta)) ? 0U : 1U;
  });
  EXPECT_EQ(differences, 0U);
}

#define ETCH_LANES(id) \
  TEST(FunctionLanes, id##GivesTheBitsOfOneLane) { expect_same_bits<id>(); }
ETCH_LANES(Abs)
ETCH_LANES(Ceil)
ETCH_LANES(Celu)
ETCH_LANES(Cube)
ETCH_LANES(Elu)
ETCH_LANES(Erf)
ETCH_LANES(Exp)
ETCH_LANES(Floor)
ETCH_LANES(Gelu)
ETCH_LANES(GeluTanh)
ETCH_LANES(HardSigmoid)
ETCH_LANES(HardSwish)
ETCH_LANES(Log)
ETCH_LANES(Mish)
ETCH_LANES(Neg)
ETCH_LANES(Pow)
ETCH_LANES(QuickGelu)
ETCH_LANES(Reciprocal)
ETCH_LANES(Selu)
ETCH_LANES(Sign)
ETCH_LANES(Softplus)
ETCH_LANES(Softsign)
ETCH_LANES(Sqrt)
ETCH_LANES(Square)
ETCH_LANES(Tanh)
ETCH_LANES(ThresholdedRelu)
ETCH_LANES(Acos)
ETCH_LANES(Acosh)
ETCH_LANES(Asin)
ETCH_LANES(Asinh)
ETCH_LANES(Atan)
ETCH_LANES(Atanh)
ETCH_LANES(Cos)
ETCH_LANES(Cosh)
ETCH_LANES(Sin)
ETCH_LANES(Sinh)
ETCH_LANES(Tan)
#undef ETCH_LANES

template <class Function>
void expect_one_nan() {
  constexpr std::uint32_t kNumberless[] = {0x7fc00000, 0xffc00000, 0x7fc12345, 0xffffffff};
  Row x;
  for (std::size_t i = 0; i < kRow; ++i) x[i] = bits_float(kNumberless[i % std::size(kNumberless)]);
  Row y;
  apply<Function>(x.data(), 1, y.data(), kRow, 0, 0);
  const auto is_plain = [](float each) { return float_bits(each) == 0x7fc00000U; };
  EXPECT_TRUE(std::all_of(y.begin(), y.end(), is_plain));
  EXPECT_TRUE(is_plain(Function::of(x[2], 0, 0)));
}

// On every target the same, however many lanes it has.
TEST(FunctionLanes, TrigonometricFunctionsKnowOneNaN) {
  expect_one_nan<Acos>();
  expect_one_nan<Acosh>();
  expect_one_nan<Asin>();
  expect_one_nan<Asinh>();
  expect_one_nan<Atan>();
  expect_one_nan<Atanh>();
  expect_one_nan<Cos>();
  expect_one_nan<Cosh>();
  expect_one_nan<Sin>();
  expect_one_nan<Sinh>();
  expect_one_nan<Tan>();
}

TEST(FunctionLanes, SigmoidGivesTheBitsOfOneLane) {
  std::uint64_t differences = 0;
  for_rows([&](const Row& x) {
    Row y;
    map<Sigmoid>(x.data(), 1, y.data(), kRow, 0);
    for (std::size_t i = 0; i < kRow; ++i) differences += same(y[i], sigmoid_f32(x[i])) ? 0U : 1U;
  });
  EXPECT_EQ(differences, 0U);
}

TEST(FunctionLanes, ExponentialsUpToOneAreThoseOfAllFloats) {
  std::uint64_t differences = 0;
  for_rows([&](const Row& x) {
    for (std::size_t i = 0; i < kRow; i += kFloatLanes) {
      float y[kFloatLanes];
      store(y, exponentials_up_to_one(load<kFloatLanes>(x.data() + i)));
      for (std::size_t j = 0; j < kFloatLanes; ++j) {
        const float each = x[i + j];
        differences += each > 0 || same(y[j], exp_f32(each)) ? 0U : 1U;
      }
    }
  });
  EXPECT_EQ(differences, 0U);
}

TEST(FunctionLanes, ConversionsToIntegersGiveTheBitsOfOneLane) {
  std::uint64_t differences = 0;
  for_rows([&](const Row& x) {
    std::array<std::int32_t, kRow> y;
    cast<std::int32_t>(x.data(), 1, Stored{0, 0}, y.data(), Stored{0, 0}, kRow);
    for (std::size_t i = 0; i < kRow; ++i)
      differences += y[i] == truncated<std::int32_t>(static_cast<double>(x[i])) ? 0U : 1U;
  });
  EXPECT_EQ(differences, 0U);
}

// Any bits, and those that pow() has cases for.
class PowerOperands {
 public:
  float next() {
    static constexpr std::uint32_t kSpecial[] = {
        0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
        0x40000000, 0xc0400000, 0x3f000000, 0x4b800000, 0x4b7fffff, 0xcb800001, 1,
        0x80000001, 0x7f7fffff, 0x3f7fffff, 0x3f800001, 0x3fc00000, 0xbfc00000};
    const std::uint32_t bits = any();
    switch (any() % 4) {
      case 0:
        return bits_float(kSpecial[bits % std::size(kSpecial)]);
      case 1:
        return bits_float(bits);
      case 2:
        return static_cast<float>(static_cast<std::int32_t>(bits % 400)) - 200;
      default:
        return bits_float(0x38000000U + bits % 0x10000000U);
    }
  }

 private:
  std::uint32_t any() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  std::uint64_t state_ = 1;
};

TEST(FunctionLanes, PowersGiveTheBitsOfOneLane) {
  PowerOperands operands;
  for (int round = 0; round < 300; ++round) {
    const std::ptrdiff_t a_step = round % 3, b_step = round / 3 % 3, n = 256 - round % 17;
    Row a, b, y;
    for (std::size_t i = 0; i < kRow; ++i) {
      a[i] = operands.next();
      b[i] = operands.next();
    }
    y[static_cast<std::size_t>(n)] = 77;
    power(a.data(), a_step, b.data(), b_step, y.data(), n);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const float x = a[static_cast<std::size_t>(i * a_step)];
      const float exponent = b[static_cast<std::size_t>(i * b_step)];
      ASSERT_TRUE(same(y[static_cast<std::size_t>(i)], pow_f32(x, exponent)))
          << x << " to the power " << exponent;
    }
    EXPECT_EQ(y[static_cast<std::size_t>(n)], 77);
  }
}

// Any two floats, and what is at most one unit in the last place from a multiple of the divisor:
// ratios of such are rounded up to an integer.
TEST(FunctionLanes, RemaindersAreThoseOfTheLibrary) {
  PowerOperands operands;
  Row a, b, y;
  for (int round = 0; round < 300; ++round) {
    for (std::size_t i = 0; i < kRow; ++i) {
      const auto nth = static_cast<float>(1U << (i % 24)) + static_cast<float>(i % 7);
      a[i] = operands.next();
      b[i] = operands.next();
      if (i % 2 == 0) a[i] = std::nextafter(nth * b[i], operands.next());
    }
    // Rows all of whose ratios are known, and others.
    if (round % 2 == 0) b.fill(b[0]);
    combine<Remainder>(a.data(), 1, b.data(), round % 3 == 0 ? 0 : 1, y.data(), kRow);
    for (std::size_t i = 0; i < kRow; ++i) {
      const float divisor = round % 3 == 0 ? b[0] : b[i];
      ASSERT_TRUE(same(y[i], std::fmod(a[i], divisor))) << a[i] << " by " << divisor;
    }
  }
}

// How far `got` is from the truth in units of the last place of the truth.
double units(float got, double truth) {
  if (std::isnan(truth)) return is_nan(got) ? 0 : HUGE_VAL;
  const auto nearest = static_cast<float>(truth);
  if (std::isinf(nearest) || std::isinf(got) || truth == 0) return got == nearest ? 0 : HUGE_VAL;
  int exponent = 0;
  std::frexp(truth, &exponent);
  return std::fabs(static_cast<double>(got) - truth) /
         std::ldexp(1.0, std::max(exponent, -125) - 24);
}

template <class Function, class Truth>
double worst(Truth truth) {
  double most = 0;
  for_rows([&](const Row& x) {
    for (const float each : x) {
      most = std::fmax(most, units(Function::of(each, 0, 0), truth(static_cast<double>(each))));
    }
  });
  return most;
}

// What ETCH_SWEEP=1 finds is in docs/spec/float.md.
TEST(FunctionLanes, AreWithinTwoUnitsOfTheLastPlaceForEveryFloat) {
  EXPECT_LT(worst<Exp>([](double x) { return std::exp(x); }), 0.9);
  EXPECT_LT(worst<Log>([](double x) { return std::log(x); }), 0.9);
  EXPECT_LT(worst<Erf>([](double x) { return std::erf(x); }), 1.8);
  EXPECT_LT(worst<Asin>([](double x) { return std::asin(x); }), 1.3);
  EXPECT_LT(worst<Acos>([](double x) { return std::acos(x); }), 1.3);
  EXPECT_LT(worst<Atan>([](double x) { return std::atan(x); }), 1.6);
  EXPECT_LE(worst<Sqrt>([](double x) { return std::sqrt(x); }), 0.5);
}

TEST(FunctionLanes, RowsOfEveryLengthAndStepTouchWhatTheySay) {
  for (std::ptrdiff_t step = 0; step <= 3; ++step) {
    for (std::ptrdiff_t n = 0; n <= 67; ++n) {
      std::vector<float> x(static_cast<std::size_t>(3 * n + 1));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.3F - 9;
      std::vector<float> y(static_cast<std::size_t>(n + 1), 77.0F);
      apply<Erf>(x.data(), step, y.data(), n, 0, 0);
      for (std::ptrdiff_t i = 0; i < n; ++i)
        EXPECT_EQ(y[static_cast<std::size_t>(i)], erf_f32(x[static_cast<std::size_t>(i * step)]));
      EXPECT_EQ(y.back(), 77.0F);
    }
  }
}

TEST(FunctionLanes, FusedStepsOfSeveralLanesRoundOnce) {
  std::uint32_t state = 1;
  const auto any = [&] {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t high = state;
    state = state * 1664525U + 1013904223U;
    return bits_float((high & 0xffff0000U) | (state >> 16));
  };
  for (int round = 0; round < 200'000; ++round) {
    float a[16], b[16], c[16], y[16];
    for (int i = 0; i < 16; ++i) {
      a[i] = any();
      b[i] = any();
      // Often near the product, where the bits that cancel are those that count.
      c[i] = i % 2 == 0 ? any() : -(a[i] * b[i]);
    }
    for (int i = 0; i < 16; i += kFloatLanes)
      store(y + i,
            fused(load<kFloatLanes>(a + i), load<kFloatLanes>(b + i), load<kFloatLanes>(c + i)));
    for (int i = 0; i < 16; ++i) EXPECT_TRUE(same(y[i], std::fma(a[i], b[i], c[i])));
  }
}

// Products halfway between two floats, the lower of which is even or odd.
TEST(FunctionLanes, FusedStepsLetATinyAddendDecideATie) {
  const float near_one = 1 + 0x1p-12F;
  for (const float a : {near_one, -near_one}) {
    for (const float b : {near_one, 1 + 0x3p-12F}) {
      for (const float c : {0x1p-80F, -0x1p-80F, 0.0F}) {
        float y[16];
        store(y, fused(all_lanes<kFloatLanes>(a), all_lanes<kFloatLanes>(b),
                       all_lanes<kFloatLanes>(c)));
        for (int i = 0; i < kFloatLanes; ++i) EXPECT_EQ(y[i], std::fma(a, b, c));
      }
    }
  }
}

}  // namespace
}  // namespace etch::rt
