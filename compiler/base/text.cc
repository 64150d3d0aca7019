// Locale-free formatting; see text.h.
#include "compiler/base/text.h"

#include <cmath>

#include "compiler/base/check.h"

namespace etch {

std::string hex_float(float value) {
  ETCH_CHECK(std::isfinite(value));
  char digits[40];
  const float magnitude = std::fabs(value);
  const auto end =
      std::to_chars(digits, digits + sizeof digits, magnitude, std::chars_format::hex).ptr;
  return cat(std::signbit(value) ? "-0x" : "0x",
             std::string_view(digits, static_cast<std::size_t>(end - digits)), 'F');
}

std::string decimal(float value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return std::string(digits, end);
}

std::string printable(std::string_view name) {
  constexpr std::size_t kLimit = 60;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : name) {
    if (out.size() >= kLimit) return out + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\') {
      out.push_back(c);
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace etch
