// Formatting by std::to_chars, which knows no locale; see numbers.h.
#include "compiler/text/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "compiler/base/text.h"

namespace etch {

std::string fixed(double value, int decimals) {
  std::array<char, 512> digits;  // the largest double has 309 before the point
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals)
                       .ptr;
  return std::string(digits.data(), end);
}

std::string significant(double value, int digits) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, digits)
                       .ptr;
  return std::string(text.data(), end);
}

std::string with_unit(std::int64_t value) {
  if (std::abs(value) < 1000) return cat(value);
  constexpr const char* kUnits[] = {" k", " M", " G", " T", " P", " E"};
  auto scaled = static_cast<double>(value) / 1000;
  std::size_t unit = 0;
  // 999.5 would be printed as 1000.
  while (std::fabs(scaled) >= 999.5 && unit + 1 < std::size(kUnits)) {
    scaled /= 1000;
    ++unit;
  }
  const int decimals = std::fabs(scaled) < 9.995 ? 2 : std::fabs(scaled) < 99.95 ? 1 : 0;
  return cat(fixed(scaled, decimals), kUnits[unit]);
}

std::string bytes_with_unit(std::int64_t value) {
  return cat(with_unit(value), std::abs(value) < 1000 ? " B" : "B");
}

std::string percent(double part, double whole) {
  return cat(fixed(whole == 0 ? 0 : 100 * part / whole, 1), " %");
}

}  // namespace etch
