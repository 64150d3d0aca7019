// Ratios of scales as quotients of integers, for operators of 16 bits whose results are those of
// the real numbers (docs/spec/products.md section 5.11), and rounded for the first guess of their
// kernels (runtime/etch_word_sums.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace etch {

// scale = odd * 2^exponent; odd < 2^24.
struct OddScale {
  std::int64_t odd = 1;
  int exponent = 0;
};
OddScale odd_scale(float scale);

// x[i] / y = parts[i] / unit; the parts are modulo 2^64.
struct ExactRatios {
  std::vector<std::uint64_t> parts;
  std::uint64_t unit = 1;
};
// Nothing where the unit would exceed 2^61.
std::optional<ExactRatios> exact_ratios(std::span<const float> x, float y);

// The largest number of bits, at most `most`, with which every ratio in units of 2^-bits is at most
// 2^30.
int bits_of_ratios(std::span<const double> ratios, int most);
std::int32_t rounded_ratio(double ratio, int bits);

}  // namespace etch
