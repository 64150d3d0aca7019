// Functions of 16-bit values in pieces: all 65,536 results are those that the table was made from,
// for smooth functions, steps, bends, ties at every other value, ends that saturate, and noise.
#include "compiler/kernels/rows/word_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/etch_word_table.h"

namespace etch {
namespace {

// Results of T for values of T from the least on; `f` takes and gives numbers of steps.
template <class T>
std::vector<std::int32_t> results_of(const std::function<double(double)>& f) {
  using Limits = std::numeric_limits<T>;
  std::vector<std::int32_t> out;
  for (std::int32_t x = Limits::min(); x <= Limits::max(); ++x) {
    const double y = std::nearbyint(f(x));
    out.push_back(static_cast<std::int32_t>(
        std::clamp<double>(y, double{Limits::min()}, double{Limits::max()})));
  }
  return out;
}

// Bytes of the table; with all values one by one and, where there are vectors, in vectors.
template <class T>
std::int64_t check(const std::function<double(double)>& f) {
  const std::vector<std::int32_t> results = results_of<T>(f);
  const WordTable table = word_table(results, std::numeric_limits<T>::min());
  std::vector<T> x(results.size()), y(results.size());
  std::iota(x.begin(), x.end(), std::numeric_limits<T>::min());
  rt::table_words(table.bits, table.steps, table.even, table.index.data(), table.cubics.data(),
                  x.data(), y.data(), static_cast<std::ptrdiff_t>(x.size()));
  const rt::WordCubics<T> cubics{table.bits, table.steps, table.even, table.index.data(),
                                 table.cubics.data()};
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    wrong += y[i] == results[i] && rt::table_word(cubics, x[i]) == results[i] ? 0 : 1;
  EXPECT_EQ(wrong, 0);
  return table.bytes();
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double hard_swish(double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }

TEST(WordTable, SmoothFunctionsTakeLittle) {
  const double step = 0x1p-12;
  EXPECT_LT(check<std::int16_t>([=](double x) { return 32767 * sigmoid(step * x); }), 1600);
  EXPECT_LT(check<std::int16_t>([=](double x) { return 32767 * std::tanh(step * x); }), 1800);
  EXPECT_LT(check<std::int16_t>([=](double x) { return hard_swish(step * x) * 4096; }), 1600);
  EXPECT_LT(check<std::int16_t>([=](double x) { return x * sigmoid(step * x); }), 1800);
  EXPECT_LT(check<std::uint16_t>([=](double x) { return 20 * std::exp(step / 2 * x); }), 1600);
  EXPECT_LT(check<std::uint16_t>([=](double x) { return 65535 * sigmoid(step * x - 8); }), 1800);
}

// Where results change quickly more than two pieces share a block.
TEST(WordTable, SteepEnds) {
  EXPECT_LT(check<std::uint16_t>([](double x) { return 255.9 * std::sqrt(x); }), 2400);
  EXPECT_LT(check<std::int16_t>([](double x) { return 32767 * sigmoid(x / 256); }), 2400);
  check<std::int16_t>([](double x) { return 32767 * x / (40 + std::abs(x)); });
}

TEST(WordTable, BendsAndSaturation) {
  EXPECT_LT(check<std::int16_t>([](double x) { return x > 77 ? x : 77 + 0.1 * (x - 77); }), 1600);
  EXPECT_LT(check<std::uint16_t>([](double x) { return 3 * std::max(x - 20011, 0.0); }), 1600);
  EXPECT_LT(check<std::int16_t>([](double x) { return std::clamp(x, -5000.0, 9001.0); }), 1600);
  EXPECT_LT(check<std::int16_t>([](double) { return -7; }), 600);
}

// Ties go to even: half of the results would be wrong if they went up.
TEST(WordTable, Ties) {
  for (const double slope : {0.5, -0.5, 0.25, 0.75, 1.5})
    EXPECT_LT(check<std::int16_t>([=](double x) { return slope * x; }), 1600) << slope;
  EXPECT_LT(check<std::uint16_t>([](double x) { return x * x / 65536; }), 2400);
}

TEST(WordTable, StepsAndNoise) {
  const auto steps = [](double of, double x) { return of * std::floor(x / of); };
  EXPECT_LT(check<std::int16_t>([&](double x) { return steps(2048, x + 7); }), 1100);
  check<std::int16_t>([&](double x) { return steps(65, x); });
  check<std::uint16_t>([](double x) { return std::fmod(7919 * x, 65536); });
  check<std::int16_t>([](double x) { return x < 0 ? -32768 : 32767; });
}

}  // namespace
}  // namespace etch
