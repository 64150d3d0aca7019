// See compare.h.
#include "compiler/cli/compare.h"

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
    result.largest = std::max(result.largest, distance(actual, expected, i));
  }
  return result;
}

std::string to_string(const Difference& difference) {
  if (difference.different == 0) return "exact";
  return cat(difference.different, " of ", difference.elements, " differ, max ",
             shortest(difference.largest));
}

}  // namespace etch::cli
