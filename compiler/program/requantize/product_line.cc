// See product_line.h. A scale of few bits gives the exact result, whose ties go to even as the
// floats' do. Otherwise results are rounded down, in int32 where a factor of so few bits serves:
// for a given factor the offsets that satisfy every product are an interval, whose ends come from
// the products at which the result changes.
#include "compiler/program/requantize/product_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/program/requantize/line_search.h"
#include "runtime/etch_byte_product.h"

namespace etch {

namespace {

constexpr int kLeastByte = 0, kMostByte = 255;
constexpr std::int64_t kMostWord = std::numeric_limits<std::int32_t>::max();

struct Known {
  int p = 0;
  int y = 0;  // of the rule, clamped
};

// All products of two bytes in their order.
std::vector<Known> known_products(const ProductFactors& factors, const SumLimits& limits) {
  constexpr int kMost = kMostByte * kMostByte;
  std::vector<char> occurs(2 * kMost + 1);
  const auto middle = occurs.begin() + kMost;
  for (int a = kLeastByte; a <= kMostByte; ++a) {
    for (int b = kLeastByte; b <= kMostByte; ++b) {
      const int p = (a - factors.a_zero) * (b - factors.b_zero);
      middle[p] = 1;
    }
  }
  std::vector<Known> out;
  for (int p = -kMost; p <= kMost; ++p) {
    if (middle[p] != 0) out.push_back({p, product_by_rule(factors, limits, p)});
  }
  return out;
}

// What the products on both sides of each change demand.
Demands changes(const std::vector<Known>& products, const SumLimits& limits) {
  Demands out;
  if (products.front().y > limits.low)
    out.reach.push_back({products.front().y, products.front().p});
  for (std::size_t i = 1; i < products.size(); ++i) {
    if (products[i].y == products[i - 1].y) continue;
    out.reach.push_back({products[i].y, products[i].p});
    out.below.push_back({products[i - 1].y + 1, products[i - 1].p});
  }
  if (products.back().y < limits.high)
    out.below.push_back({products.back().y + 1, products.back().p});
  return out;
}

bool equals_rule(const ProductLine& line, const SumLimits& limits,
                 const std::vector<Known>& products) {
  return std::ranges::all_of(
      products, [&](const Known& known) { return evaluate(line, limits, known.p) == known.y; });
}

// Every sum before the shift fits int32, with what is added to round it.
bool sums_fit_int32(const ProductLine& line, const std::vector<Known>& products) {
  constexpr std::int64_t kBeyond = std::int64_t{1} << 31;
  const auto sum = [&](const Known& known) {
    return std::int64_t{known.p} * line.factor + line.offset;
  };
  return sum(products.front()) >= -kBeyond &&
         sum(products.back()) + (std::int64_t{1} << line.bits) < kBeyond;
}

std::optional<ProductLine> exact_product(const ProductFactors& factors, const SumLimits& limits,
                                         const std::vector<Known>& products) {
  constexpr int kMostBits = 22;
  const double constant = double{factors.y_zero} + factors.y_stored;
  for (int bits = 1; bits <= kMostBits; ++bits) {
    const double factor = std::ldexp(double{factors.scale}, bits);
    if (factor >= 0x1p31) return std::nullopt;
    if (factor != std::floor(factor)) continue;
    const ProductLine line{rt::kSumToEven, static_cast<std::int32_t>(factor),
                           static_cast<std::int64_t>(std::ldexp(constant, bits)), bits};
    if (!sums_fit_int32(line, products) || !equals_rule(line, limits, products))
      return std::nullopt;
    return line;
  }
  return std::nullopt;
}

// The line of this factor, if any offset of at most `limit` satisfies all demands.
std::optional<ProductLine> with_factor(const Demands& demands, std::int64_t factor, int bits,
                                       std::int64_t limit, rt::SumForm form) {
  const std::int64_t one = std::int64_t{1} << bits;
  std::int64_t least = -limit, most = limit;
  for (const Demand& demand : demands.reach)
    least = std::max(least, demand.q * one - demand.acc * factor);
  for (const Demand& demand : demands.below)
    most = std::min(most, demand.q * one - 1 - demand.acc * factor);
  if (least > most) return std::nullopt;
  return ProductLine{form, static_cast<std::int32_t>(factor), least + (most - least) / 2, bits};
}

// Fewer bits of the factor serve by luck only.
std::optional<ProductLine> narrow_product(const ProductFactors& factors, const Demands& demands,
                                          const std::vector<Known>& products) {
  constexpr int kMostBits = 30, kTried = 8, kReach = 24;
  const double reach = std::max(std::abs(products.front().p), std::abs(products.back().p));
  int bits = kMostBits;
  while (bits > 0 && std::ldexp(reach * factors.scale + 2 * kMostByte, bits) >= 0x1p31) --bits;
  for (const int end = std::max(0, bits - kTried); bits > end; --bits) {
    const std::int64_t near = std::llround(std::ldexp(double{factors.scale}, bits));
    for (int i = 0; i <= 2 * kReach; ++i) {
      const std::int64_t factor = near + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
      if (factor < 0) continue;
      const auto line = with_factor(demands, factor, bits, kMostWord, rt::kNarrowSum);
      if (line && sums_fit_int32(*line, products)) return line;
    }
  }
  return std::nullopt;
}

// One whose sums less their last 16 bits are int32 (rt::multiply_by_halves()).
std::optional<ProductLine> halves_product(const ProductFactors& factors, const Demands& demands) {
  constexpr int kLeastBits = 32, kMostBits = 46;
  constexpr std::int64_t kMostOffset = std::int64_t{1} << 47;
  const std::int32_t reach = rt::reach_of_byte(factors.a_zero) * rt::reach_of_byte(factors.b_zero);
  for (int bits = kMostBits; bits >= kLeastBits; --bits) {
    const double factor = std::round(std::ldexp(double{factors.scale}, bits));
    if (factor > kMostWord) continue;
    const auto line =
        with_factor(demands, static_cast<std::int64_t>(factor), bits, kMostOffset, rt::kWideSum);
    if (line && rt::halves_serve(reach, line->factor, line->offset, bits - kLeastBits)) return line;
  }
  return std::nullopt;
}

std::optional<ProductLine> wide_product(const ProductFactors& factors, const Demands& demands,
                                        const std::vector<Known>& products) {
  constexpr int kLeastBits = 32;
  RequantizeChannel channel;
  channel.scale = factors.scale;
  channel.least = products.front().p;
  channel.most = products.back().p;
  const std::optional<Line> line = find_line(channel, demands, Offsets::kOne, 0);
  if (!line || line->shift < kLeastBits) return std::nullopt;
  return ProductLine{rt::kWideSum, line->multiplier, line->offset, line->shift};
}

}  // namespace

int product_by_rule(const ProductFactors& factors, const SumLimits& limits, int p) {
  const float scaled = static_cast<float>(p) * factors.scale;
  const float shifted = scaled + factors.y_zero;
  const float low = static_cast<float>(limits.low - factors.y_stored);
  const float high = static_cast<float>(limits.high - factors.y_stored);
  return static_cast<int>(std::nearbyint(std::clamp(shifted, low, high))) + factors.y_stored;
}

int evaluate(const ProductLine& line, const SumLimits& limits, int p) {
  return quotient_of(std::int64_t{p} * line.factor + line.offset, line.form, line.bits, limits);
}

std::optional<ProductLine> find_product_line(const ProductFactors& factors,
                                             const SumLimits& limits) {
  if (!(factors.scale > 0) || !std::isfinite(factors.scale)) return std::nullopt;
  const std::vector<Known> products = known_products(factors, limits);
  if (const auto exact = exact_product(factors, limits, products)) return exact;
  const Demands demands = changes(products, limits);
  for (const auto& line :
       {narrow_product(factors, demands, products), halves_product(factors, demands),
        wide_product(factors, demands, products)}) {
    if (line && equals_rule(*line, limits, products)) return line;
  }
  return std::nullopt;
}

}  // namespace etch
