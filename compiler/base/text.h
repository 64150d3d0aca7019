// Text without locale: numbers and strings joined by cat(), floats that read back to the same
// bits, and model names made safe to print.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace etch {

namespace text_detail {
inline void append(std::string& out, std::string_view piece) { out.append(piece); }
inline void append(std::string& out, const char* piece) { out.append(piece); }
inline void append(std::string& out, const std::string& piece) { out.append(piece); }
inline void append(std::string& out, char piece) { out.push_back(piece); }
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, char> &&
         !std::is_same_v<T, bool>) void append(std::string& out, T value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}
}  // namespace text_detail

// Joins strings, characters and integers: cat("x_", 3) == "x_3".
template <class... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string out;
  (text_detail::append(out, pieces), ...);
  return out;
}

// A finite float as a C++17 hex literal that reads back to the same bits: 0x1.8p+1F.
std::string hex_float(float value);

// The shortest decimal that reads back to the same float, for comments and reports: 0.1.
std::string decimal(float value);

// The decimal integer that all of `text` is; null if it is none or not in least .. most.
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t least,
                                          std::int64_t most);

// The character that `text`, which is not empty, starts with; size 0 if that is no well-formed
// UTF-8 (RFC 3629).
struct Character {
  std::size_t size = 0;  // bytes
  std::uint32_t code = 0;
};
Character first_character(std::string_view text);
bool is_utf8(std::string_view text);

// `name` as printable ASCII for diagnostics: everything else becomes \xNN, at most 60 characters.
std::string printable(std::string_view name);

}  // namespace etch
