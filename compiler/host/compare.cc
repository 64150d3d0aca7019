// See compare.h.
#include "compiler/host/compare.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/base/check.h"
#include "compiler/base/text.h"

namespace etch::cli {
namespace {

bool is_float(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
}

double real_of(const Tensor& tensor, std::int64_t index) {
  if (tensor.dtype() == DType::kF64) return tensor.as<double>()[static_cast<std::size_t>(index)];
  return static_cast<double>(tensor.real(index));
}

double distance(const Tensor& a, const Tensor& b, std::int64_t index) {
  if (!is_float(a.dtype())) {
    // uint64 is held as its two's complement; the difference modulo 2^64 is right either way round.
    const auto x = static_cast<std::uint64_t>(a.integer(index));
    const auto y = static_cast<std::uint64_t>(b.integer(index));
    const bool less = a.dtype() == DType::kU64 ? x < y : a.integer(index) < b.integer(index);
    return static_cast<double>(less ? y - x : x - y);
  }
  const double difference = std::fabs(real_of(a, index) - real_of(b, index));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

bool both_nan(const Tensor& a, const Tensor& b, std::int64_t index) {
  return is_float(a.dtype()) && std::isnan(real_of(a, index)) && std::isnan(real_of(b, index));
}

std::string shortest(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 6)
                       .ptr;
  return std::string(digits.data(), end);
}

// Adds what only floats have to `result`.
void compare_as_vectors(const Tensor& actual, const Tensor& expected, Difference& result) {
  double dot = 0;
  double actual_square = 0;
  double expected_square = 0;
  std::int64_t actual_top = 0;
  std::int64_t expected_top = 0;
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const double a = real_of(actual, i);
    const double e = real_of(expected, i);
    dot += a * e;
    actual_square += a * a;
    expected_square += e * e;
    if (a > real_of(actual, actual_top)) actual_top = i;
    if (e > real_of(expected, expected_top)) expected_top = i;
  }
  // NaN and infinity have no angle: 0.
  const double lengths = std::sqrt(actual_square) * std::sqrt(expected_square);
  if (result.different != 0) result.cosine = lengths > 0 && std::isfinite(dot) ? dot / lengths : 0;
  result.same_arg_max = actual_top == expected_top;
}

}  // namespace

Difference compare(const Tensor& actual, const Tensor& expected) {
  ETCH_CHECK(actual.dtype() == expected.dtype() && actual.shape() == expected.shape());
  Difference result;
  result.elements = actual.size();
  result.integer = !is_float(actual.dtype());
  const auto width = static_cast<std::size_t>(bytes_of(actual.dtype()));
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * width;
    if (std::memcmp(&actual.bytes()[at], &expected.bytes()[at], width) == 0) continue;
    if (both_nan(actual, expected, i)) continue;
    ++result.different;
    const double apart = distance(actual, expected, i);
    result.largest = std::max(result.largest, apart);
    if (result.integer) continue;
    const double size = std::max(1.0, std::fabs(real_of(expected, i)));
    result.largest_share = std::max(result.largest_share, std::isinf(apart) ? apart : apart / size);
  }
  if (!result.integer) compare_as_vectors(actual, expected, result);
  return result;
}

std::string to_string(const Difference& difference) {
  if (difference.different == 0) return "exact";
  std::string apart = cat(difference.different, " of ", difference.elements, " differ, max ",
                          shortest(difference.largest));
  if (difference.integer) return apart;
  return cat(apart, ", cosine ", shortest(difference.cosine),
             difference.same_arg_max ? ", same" : ", another", " arg-max");
}

}  // namespace etch::cli
