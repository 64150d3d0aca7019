// See sum_line.h. Ratios and offset that are integers of one power of two give the exact sum, whose
// ties go to even as the floats' do. Otherwise sums are rounded down: for given factors the offsets
// that satisfy every pair are an interval, whose ends take one pass over the pairs. Where it is
// empty, a few pairs are so close to a tie that the rounding of the floats decides them; a grid of
// slightly different factors is searched for one that agrees, first with those pairs and with those
// that have refuted others.
#include "compiler/program/requantize/sum_line.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace etch {
namespace {

constexpr int kBytes = 256;

struct Pair {
  int a = 0, b = 0;
  int y = 0;  // of the rule, clamped
};

struct Interval {
  std::int64_t least = 0, most = 0;
  bool empty() const { return least > most; }
};

std::int64_t products(const SumLine& line, const Pair& pair) {
  return std::int64_t{line.a_factor} * pair.a + std::int64_t{line.b_factor} * pair.b;
}

// What a result of 1 is before the shift.
std::int64_t one(const SumLine& line) { return std::int64_t{1} << line.bits; }

// Those with which every sum of a line in int32 fits and its quotient fits int16; of a wide line so
// far that everything is clamped to one limit.
Interval allowed_offsets(const SumLine& line) {
  constexpr std::int64_t kBeyond = std::int64_t{1} << 31, kFar = 16384, kMostQuotient = 32767;
  if (!line.is_narrow()) return {-kFar * one(line), kFar * one(line)};
  const std::int64_t most_sum = std::min(kBeyond, (kMostQuotient + 1) * one(line)) - 1;
  return {-std::min(kBeyond, kMostQuotient * one(line)),
          most_sum - products(line, {255, 255, 0}) - line.half() - 1};
}

// Two of `pairs` that no offset satisfies together, by their positions.
struct Conflict {
  std::size_t first = 0, second = 0;
};

// Nothing where `all`, which becomes the offsets with which the line agrees with the rule for every
// pair, is not empty. What is clamped only has to be beyond the limit.
std::optional<Conflict> conflict(const SumLine& line, const SumLimits& limits,
                                 const std::vector<Pair>& pairs, Interval& all) {
  all = allowed_offsets(line);
  std::size_t least = 0, most = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    const std::int64_t from = pair.y * one(line) - products(line, pair);
    const std::int64_t to = from + one(line) - 1;
    if (pair.y > limits.low && from > all.least) least = i, all.least = from;
    if (pair.y < limits.high && to < all.most) most = i, all.most = to;
    if (all.empty()) return Conflict{std::min(least, most), std::max(least, most)};
  }
  return std::nullopt;
}

void move_to_front(std::vector<Pair>& pairs, std::size_t at) {
  const auto first = pairs.begin(), moved = first + static_cast<std::ptrdiff_t>(at);
  std::rotate(first, moved, moved + 1);
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

// Those whose exact sum is near a tie.
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

// The most bits with which both ratios, and what the search adds to them, fit 32 bits.
std::optional<int> wide_bits(const SumFactors& factors) {
  constexpr double kBelow = 255.0 / 256;
  const double greater = std::max(factors.ratio_a, factors.ratio_b);
  for (int bits = 32; bits >= kLeastSumBits; --bits) {
    if (std::ldexp(greater, bits - 32) < kBelow) return bits;
  }
  return std::nullopt;
}

// The sum of two bytes 0 as stored.
double constant_of(const SumFactors& factors) {
  return double{factors.fixed} + factors.y_stored - double{factors.ratio_a} * factors.a_stored -
         double{factors.ratio_b} * factors.b_stored;
}

// The most bits with which every sum, and what the search adds to it, fits int32.
std::optional<int> narrow_bits(const SumFactors& factors) {
  constexpr int kMost = 24, kLeast = 16;
  const double reach = 255 * (double{factors.ratio_a} + double{factors.ratio_b}) +
                       std::fabs(constant_of(factors)) + 2;
  for (int bits = kMost; bits >= kLeast; --bits) {
    if (std::ldexp(reach, bits) < 0x1p31) return bits;
  }
  return std::nullopt;
}

bool proved(const SumLine& line, const SumLimits& limits, const std::vector<Pair>& pairs) {
  return std::ranges::all_of(
      pairs, [&](const Pair& pair) { return evaluate(line, limits, pair.a, pair.b) == pair.y; });
}

// The exact sum, where it has few bits after the point.
std::optional<SumLine> exact_line(const SumFactors& factors, const SumLimits& limits,
                                  const std::vector<Pair>& pairs) {
  const double constant = constant_of(factors);
  for (int bits = 1; bits <= kMostBitsToEven; ++bits) {
    const double a = std::ldexp(double{factors.ratio_a}, bits);
    const double b = std::ldexp(double{factors.ratio_b}, bits);
    const double offset = std::ldexp(constant, bits);
    if (std::max({a, b, std::fabs(offset)}) >= 0x1p31) return std::nullopt;
    if (a != std::floor(a) || b != std::floor(b) || offset != std::floor(offset)) continue;
    const SumLine line{rt::kSumToEven, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                       static_cast<std::int64_t>(offset), bits};
    const Interval allowed = allowed_offsets(line);
    const bool fits = line.offset >= allowed.least && line.offset <= allowed.most;
    if (fits && proved(line, limits, pairs)) return line;
    return std::nullopt;
  }
  return std::nullopt;
}

// The bytes of all pairs by the rule; and of those near a tie and those that have refuted a line,
// which are compared first.
struct Rule {
  std::vector<Pair> pairs, critical;
};

// The offsets with which the line agrees with the rule. A line that has none is refuted by two
// pairs, which go to the front: they refute most of the lines that are tried next.
std::optional<Interval> agreeing(const SumLine& line, const SumLimits& limits, Rule& rule) {
  Interval all;
  if (const auto found = conflict(line, limits, rule.critical, all)) {
    move_to_front(rule.critical, found->second);
    if (found->first != found->second) move_to_front(rule.critical, found->first + 1);
    return std::nullopt;
  }
  if (const auto found = conflict(line, limits, rule.pairs, all)) {
    rule.critical.insert(rule.critical.begin(),
                         {rule.pairs[found->first], rule.pairs[found->second]});
    return std::nullopt;
  }
  return all;
}

// A line rounded down whose factors are near `factors`.
std::optional<SumLine> rounded_down(const SumFactors& factors, const SumLimits& limits, Rule& rule,
                                    rt::SumForm form, int bits) {
  constexpr int kReach = 40;
  const double a = std::ldexp(double{factors.ratio_a}, bits);
  const double b = std::ldexp(double{factors.ratio_b}, bits);
  // A step of the factors moves results by at most 2^-16, as far as the floats' rounding, or as
  // little as it can.
  const std::int64_t step = std::max<std::int64_t>(1, (std::int64_t{1} << bits) >> 25);
  for (int ring = 0; ring <= kReach; ++ring) {
    for (int i = -ring; i <= ring; ++i) {
      for (int j = -ring; j <= ring; ++j) {
        if (std::max(std::abs(i), std::abs(j)) != ring) continue;
        const std::int64_t a_factor = std::llround(a) + i * step;
        const std::int64_t b_factor = std::llround(b) + j * step;
        if (a_factor < 0 || b_factor < 0) continue;
        SumLine line{form, static_cast<std::uint32_t>(a_factor),
                     static_cast<std::uint32_t>(b_factor), 0, bits};
        const std::optional<Interval> all = agreeing(line, limits, rule);
        if (!all) continue;
        line.offset = all->least + (all->most - all->least) / 2;
        return line;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

int sum_by_rule(const SumFactors& factors, int a, int b) {
  constexpr float kMost = 32767;
  const float inner =
      std::fma(static_cast<float>(b - factors.b_stored), factors.ratio_b, factors.fixed);
  const float sum = std::fma(static_cast<float>(a - factors.a_stored), factors.ratio_a, inner);
  const float rounded = std::nearbyint(std::clamp(sum, -kMost, kMost));
  return static_cast<int>(rounded) + factors.y_stored;
}

int quotient_of(std::int64_t sum, rt::SumForm form, int bits, const SumLimits& limits) {
  if (form == rt::kSumToEven) sum += (std::int64_t{1} << (bits - 1)) - 1 + ((sum >> bits) & 1);
  return static_cast<int>(
      std::clamp<std::int64_t>(sum >> bits, std::int64_t{limits.low}, std::int64_t{limits.high}));
}

int evaluate(const SumLine& line, const SumLimits& limits, int a, int b) {
  return quotient_of(products(line, {a, b, 0}) + line.offset, line.form, line.bits, limits);
}

std::optional<SumLine> find_sum_line(const SumFactors& factors, const SumLimits& limits) {
  if (!(std::min(factors.ratio_a, factors.ratio_b) >= 0) || !std::isfinite(factors.fixed))
    return std::nullopt;
  Rule rule{all_pairs(factors, limits), {}};
  if (const auto exact = exact_line(factors, limits, rule.pairs)) return exact;
  rule.critical = near_ties(factors, rule.pairs);
  if (const auto bits = narrow_bits(factors)) {
    const auto line = rounded_down(factors, limits, rule, rt::kNarrowSum, *bits);
    if (line) return line;
  }
  const std::optional<int> bits = wide_bits(factors);
  if (!bits) return std::nullopt;
  return rounded_down(factors, limits, rule, rt::kWideSum, *bits);
}

}  // namespace etch
