// Locale-free formatting; see text.h.
#include "compiler/base/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>

#include "compiler/base/check.h"

namespace etch {

namespace text_detail {

void Piece::print(std::int64_t number) {
  const char* const end = std::to_chars(digits_, digits_ + sizeof digits_, number).ptr;
  text_ = std::string_view(digits_, static_cast<std::size_t>(end - digits_));
}

void Piece::print(std::uint64_t number) {
  const char* const end = std::to_chars(digits_, digits_ + sizeof digits_, number).ptr;
  text_ = std::string_view(digits_, static_cast<std::size_t>(end - digits_));
}

std::string join(std::initializer_list<Piece> pieces) {
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.text().size();
  std::string out;
  out.reserve(size);
  for (const Piece& piece : pieces) out.append(piece.text());
  return out;
}

}  // namespace text_detail

std::string plural(std::int64_t count, std::string_view one) {
  return cat(one, count == 1 ? "" : "s");
}

std::string counted(std::int64_t count, std::string_view one) {
  return cat(count, ' ', plural(count, one));
}

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

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t least,
                                          std::int64_t most) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number >= least && number <= most ? std::optional(number) : std::nullopt;
}

namespace {
// libc++ has no std::from_chars for floats before version 20. Streams take more than that does: a
// sign of positive numbers, and in libc++ hexadecimal digits.
template <class Real>
std::optional<Real> parse_real(std::string_view text) {
  if (text.starts_with('+')) return std::nullopt;
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  Real value = 0;
  stream >> std::noskipws >> value;
  const bool all = !stream.fail() && stream.peek() == std::istringstream::traits_type::eof();
  return all && std::isfinite(value) ? std::optional(value) : std::nullopt;
}
}  // namespace

std::optional<float> parse_float(std::string_view text) { return parse_real<float>(text); }
std::optional<double> parse_double(std::string_view text) { return parse_real<double>(text); }

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || size > text.size()) return {};
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool exists = code >= kLeast[size] && code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
  return exists ? Character{size, code} : Character{};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = first_character(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string printable(std::string_view name, std::size_t most) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : name) {
    if (out.size() >= most) return out + "...";
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
