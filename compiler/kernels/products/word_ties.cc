// See word_ties.h. y is sum * m / 2^e + rest / 2^(e - 31) with a factor m of 60 bits: a tie is
//   sum * m + rest * 2^31 = an odd multiple of 2^(e - 1).
// With t zeros at the end of m this has either no solution or one sum modulo 2^(e - t); without a
// rest these sums are the odd multiples of 2^(e - t - 1).
#include "compiler/kernels/products/word_ties.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace etch {

namespace {

struct Factor {
  std::int64_t m = 0;
  int shift = 0;  // e - 31
  std::int64_t rest = 0;
};

Factor factor_of(const WordConv& conv, std::size_t channel) {
  return {(std::int64_t{conv.high_parts[channel]} << 31) + conv.low_parts[channel],
          conv.shifts[channel], conv.rests[channel]};
}

// So that odd * inverse = 1 modulo 2^64: each step doubles the bits that are right.
std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t out = odd;
  for (int bits = 3; bits < 64; bits *= 2) out *= 2 - odd * out;
  return out;
}

std::uint64_t power_of_two(int exponent) {
  return exponent < 64 ? std::uint64_t{1} << exponent : 0;
}

// `most`: beyond that distance from 0 y is limited. With a rest, solutions are looked for modulo
// 2^64 at most, which finds all there are.
bool has_tie(const Factor& f, double most) {
  const int e = f.shift + 31, zeros = std::countr_zero(static_cast<std::uint64_t>(f.m));
  if (f.rest != 0 && std::countr_zero(static_cast<std::uint64_t>(f.rest)) + 31 < zeros)
    return false;
  const double reach =
      std::min(std::ldexp(most, e) / static_cast<double>(f.m) * 1.001 + 2, 2147483648.0);
  if (f.rest == 0) return std::ldexp(1.0, e - zeros - 1) <= reach;
  const int bits = std::min(e - zeros, 64);
  if (std::ldexp(1.0, bits) <= 2 * reach) return true;
  const std::int64_t off = (f.rest * (std::int64_t{1} << 31)) >> zeros;
  const std::uint64_t odd_halves = power_of_two(e - 1 - zeros) - static_cast<std::uint64_t>(off);
  const std::uint64_t sum = odd_halves * inverse_of(static_cast<std::uint64_t>(f.m) >> zeros);
  const int unused = 64 - bits;
  const auto nearest = static_cast<std::int64_t>(sum << unused) >> unused;  // to 0
  return std::abs(static_cast<double>(nearest)) <= reach;
}

}  // namespace

bool may_have_ties(const WordConv& conv) {
  // And one, by which a limit may be missed, and another for what the rest adds.
  const double most =
      std::max(std::abs(conv.low - conv.y_zero), std::abs(conv.high - conv.y_zero)) + 2;
  for (std::size_t m = 0; m < conv.shifts.size(); ++m) {
    if (conv.shifts[m] <= 32 || has_tie(factor_of(conv, m), most)) return true;
  }
  return false;
}

Tensor untied_factors(const WordConv& conv) {
  std::vector<std::int32_t> high, low, kept, offset_low, offset_high;
  for (std::size_t m = 0; m < conv.shifts.size(); ++m) {
    const Factor f = factor_of(conv, m);
    const std::int64_t twice = f.m * 2;  // in units of 2^-32
    const auto below = static_cast<std::int32_t>(static_cast<std::uint32_t>(twice));
    low.push_back(below);
    high.push_back(static_cast<std::int32_t>((twice - below) >> 32));
    kept.push_back(f.shift - 32);
    const std::int64_t offset = (std::int64_t{1} << (f.shift - 1)) + f.rest;
    offset_low.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(offset)));
    offset_high.push_back(static_cast<std::int32_t>(offset >> 32));
  }
  for (const auto* const row : {&low, &kept, &offset_low, &offset_high})
    high.insert(high.end(), row->begin(), row->end());
  return Tensor::of<std::int32_t>({static_cast<std::int64_t>(high.size())}, high);
}

}  // namespace etch
