// The sum of two quantized tensors without floats: a line through both bytes that equals the float
// rule rne(fma(a, ratio_a, fma(b, ratio_b, fixed))) (templates/kernels/rows/sum.h) for every pair
// of bytes. There are only 65,536 pairs, so every line that is handed out has been compared with
// the rule on all of them, which proves it.
#pragma once

#include <cstdint>
#include <optional>

#include "templates/kernels/rows/sum.h"

namespace etch {

// floor((a * a_factor + b * b_factor + offset) / 2^(32 - shift)), which stays within int16,
// clamped; a and b as stored, 0 to 255.
struct SumLine {
  std::uint32_t a_factor = 0, b_factor = 0;
  std::int64_t offset = 0;
  int shift = 0;  // 0 to kMostSumShift; as small as the factors allow
};
inline constexpr int kMostSumShift = 4;

// Bytes as stored between which results are clamped.
struct SumLimits {
  int low = 0, high = 255;
};

// What the float rule stores, unclamped but kept within int16.
int sum_by_rule(const SumFactors& factors, int a, int b);

// What the line gives, clamped.
int evaluate(const SumLine& line, const SumLimits& limits, int a, int b);

// Nothing where no line was found: ratios of 16 or more, many exact ties.
std::optional<SumLine> find_sum_line(const SumFactors& factors, const SumLimits& limits);

}  // namespace etch
