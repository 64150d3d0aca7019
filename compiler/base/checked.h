// Checked 64-bit arithmetic for numbers that come from a model. Every size, offset and product
// that a file can influence goes through these, so that overflow is a diagnostic and not a wrap.
#pragma once

#include <cstdint>
#include <optional>

namespace etch {

inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The least multiple of `unit` that is >= a; a >= 0, unit > 0.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t unit) {
  return ceil_div(a, unit) * unit;
}

}  // namespace etch
