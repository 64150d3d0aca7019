// The sum of two quantized tensors without floats: a line through both bytes that equals the float
// rule rne(fma(a, ratio_a, fma(b, ratio_b, fixed))) (templates/kernels/rows/sum.h) for every pair
// of bytes. There are only 65,536 pairs, so every line that is handed out has been compared with
// the rule on all of them, which proves it.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/etch_integer.h"
#include "templates/kernels/rows/sum.h"

namespace etch {

// a * a_factor + b * b_factor + offset, divided by 2^bits and rounded, clamped; a and b as stored,
// 0 to 255. The quotient stays within int16.
struct SumLine {
  rt::SumForm form = rt::kWideSum;
  std::uint32_t a_factor = 0, b_factor = 0;
  std::int64_t offset = 0;
  int bits = 32;  // of a wide one kLeastSumBits at least; to even kMostBitsToEven at most

  bool is_narrow() const { return form != rt::kWideSum; }
  // What is added in int32 besides `offset` before it is shifted: with the quotient's last bit.
  std::int32_t half() const {
    return form == rt::kSumToEven ? (std::int32_t{1} << (bits - 1)) - 1 : 0;
  }
};
inline constexpr int kLeastSumBits = 28;
inline constexpr int kMostBitsToEven = 12;

// Bytes as stored between which results are clamped.
struct SumLimits {
  int low = 0, high = 255;
};

// What the float rule stores, unclamped but kept within int16.
int sum_by_rule(const SumFactors& factors, int a, int b);

// `sum` divided by 2^bits and rounded as `form` says, clamped.
int quotient_of(std::int64_t sum, rt::SumForm form, int bits, const SumLimits& limits);

// What the line gives, clamped.
int evaluate(const SumLine& line, const SumLimits& limits, int a, int b);

// The cheapest line that was found; nothing where none was: negative ratios, many ties where the
// exact sum has too many bits (ratios of 0.5 and 0.3), or ratios of 16 or more without room in
// int32.
std::optional<SumLine> find_sum_line(const SumFactors& factors, const SumLimits& limits);

}  // namespace etch
