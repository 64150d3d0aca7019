// See sum_line.h. For given factors the offsets that satisfy every pair are an interval, whose ends
// take one pass over the pairs. Where it is empty, a few pairs lie so close to a tie that the
// rounding of the floats decides them; a grid of slightly different factors is searched for one
// that agrees, first with those pairs only.
#include "compiler/schedule/requantize/sum_line.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace etch {
namespace {

constexpr int kBytes = 256;
constexpr double kOne = 4294967296.0;  // 2^32: a result of 1

struct Pair {
  int a = 0, b = 0;
  int y = 0;  // of the rule, clamped
};

struct Interval {
  std::int64_t least = std::numeric_limits<std::int64_t>::min() / 2;
  std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  bool empty() const { return least > most; }
};

std::int64_t products(const SumLine& line, const Pair& pair) {
  return std::int64_t{line.a_factor} * pair.a + std::int64_t{line.b_factor} * pair.b;
}

// The offsets with which the line agrees with the rule for `pairs`; what is clamped only has to
// lie beyond the limit.
Interval offsets(const SumLine& line, const SumLimits& limits, const std::vector<Pair>& pairs) {
  Interval out;
  for (const Pair& pair : pairs) {
    const std::int64_t from = (std::int64_t{pair.y} << 32) - products(line, pair);
    if (pair.y > limits.low) out.least = std::max(out.least, from);
    if (pair.y < limits.high) out.most = std::min(out.most, from + (std::int64_t{1} << 32) - 1);
  }
  return out;
}

std::vector<Pair> all_pairs(const SumFactors& factors, const SumLimits& limits) {
  std::vector<Pair> out;
  out.reserve(kBytes * kBytes);
  for (int a = 0; a < kBytes; ++a) {
    for (int b = 0; b < kBytes; ++b)
      out.push_back({a, b, std::clamp(sum_by_rule(factors, a, b), limits.low, limits.high)});
  }
  return out;
}

// Those whose exact sum lies near a tie.
std::vector<Pair> near_ties(const SumFactors& factors, const std::vector<Pair>& pairs) {
  constexpr double kNear = 1.0 / 1024;
  std::vector<Pair> out;
  for (const Pair& pair : pairs) {
    const double sum = double{factors.ratio_a} * (pair.a - factors.a_stored) +
                       double{factors.ratio_b} * (pair.b - factors.b_stored) +
                       double{factors.fixed};
    if (std::fabs(sum - std::floor(sum) - 0.5) < kNear) out.push_back(pair);
  }
  return out;
}

bool in_range(double factor) { return factor >= 0 && factor < kOne - kOne / 256; }

}  // namespace

int sum_by_rule(const SumFactors& factors, int a, int b) {
  constexpr float kMost = 32767;
  const float inner =
      std::fma(static_cast<float>(b - factors.b_stored), factors.ratio_b, factors.fixed);
  const float sum = std::fma(static_cast<float>(a - factors.a_stored), factors.ratio_a, inner);
  const float rounded = std::nearbyint(std::clamp(sum, -kMost, kMost));
  return static_cast<int>(rounded) + factors.y_stored;
}

int evaluate(const SumLine& line, const SumLimits& limits, int a, int b) {
  const std::int64_t sum = products(line, {a, b, 0}) + line.offset;
  return static_cast<int>(
      std::clamp<std::int64_t>(sum >> 32, std::int64_t{limits.low}, std::int64_t{limits.high}));
}

std::optional<SumLine> find_sum_line(const SumFactors& factors, const SumLimits& limits) {
  const double a = double{factors.ratio_a} * kOne;
  const double b = double{factors.ratio_b} * kOne;
  if (!in_range(a) || !in_range(b) || !std::isfinite(factors.fixed)) return std::nullopt;
  const std::vector<Pair> pairs = all_pairs(factors, limits);
  const std::vector<Pair> critical = near_ties(factors, pairs);
  constexpr int kReach = 40;
  // A step of the factors moves results by at most 2^-16: as far as the floats' rounding.
  constexpr std::int64_t kStep = 128;
  for (int ring = 0; ring <= kReach; ++ring) {
    for (int i = -ring; i <= ring; ++i) {
      for (int j = -ring; j <= ring; ++j) {
        if (std::max(std::abs(i), std::abs(j)) != ring) continue;
        const std::int64_t a_factor = std::llround(a) + i * kStep;
        const std::int64_t b_factor = std::llround(b) + j * kStep;
        if (a_factor < 0 || b_factor < 0) continue;
        SumLine line{static_cast<std::uint32_t>(a_factor), static_cast<std::uint32_t>(b_factor), 0};
        if (offsets(line, limits, critical).empty()) continue;
        const Interval all = offsets(line, limits, pairs);
        if (all.empty()) continue;
        line.offset = all.least + (all.most - all.least) / 2;
        return line;
      }
    }
  }
  return std::nullopt;
}

}  // namespace etch
