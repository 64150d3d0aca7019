// Text without locale: numbers and strings joined by cat(), floats that read back to the same
// bits, and model names made safe to print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace etch {

namespace text_detail {
// One thing to join, with room for the digits of a number. Everything that has a body is in
// text.cc: cat() is called from everywhere, and what is inlined there is compiled there.
class Piece {
 public:
  Piece(std::string_view text) : text_(text) {}                     // NOLINT: what cat() takes
  Piece(const std::string& text) : text_(text) {}                   // NOLINT
  Piece(const char* text) : text_(text) {}                          // NOLINT
  Piece(char character) : digits_{character}, text_(digits_, 1) {}  // NOLINT
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, bool>)
      Piece(T number) {  // NOLINT
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    print(static_cast<Wide>(number));
  }
  template <class T>
  requires(!std::is_integral_v<T> && !std::is_convertible_v<const T&, std::string_view>)
      Piece(const T&)
  = delete;  // its text would be gone
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::string_view text() const { return text_; }

 private:
  void print(std::int64_t number);
  void print(std::uint64_t number);

  char digits_[24];
  std::string_view text_;
};

std::string join(std::initializer_list<Piece> pieces);
}  // namespace text_detail

// Joins strings, characters and integers: cat("x_", 3) == "x_3".
template <class... Pieces>
std::string cat(const Pieces&... pieces) {
  return text_detail::join({text_detail::Piece(pieces)...});
}

// "row" for one, "rows" for any other number of them; "index" and the like have no place here.
std::string plural(std::int64_t count, std::string_view one);
// counted(1, "row") == "1 row", counted(3, "row") == "3 rows".
std::string counted(std::int64_t count, std::string_view one);

// A finite float as a C++17 hex literal that reads back to the same bits: 0x1.8p+1F.
std::string hex_float(float value);

// The shortest decimal that reads back to the same float, for comments and reports: 0.1.
std::string decimal(float value);

// The decimal integer that all of `text` is; null if it is none or not in least .. most.
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t least,
                                          std::int64_t most);
// The finite decimal that all of `text` is, to the nearest float or double; null if it is none.
std::optional<float> parse_float(std::string_view text);
std::optional<double> parse_double(std::string_view text);

// The character that `text`, which is not empty, starts with; size 0 if that is no well-formed
// UTF-8 (RFC 3629).
struct Character {
  std::size_t size = 0;  // bytes
  std::uint32_t code = 0;
};
Character first_character(std::string_view text);
bool is_utf8(std::string_view text);

// `name` as printable ASCII for diagnostics: everything else becomes \xNN, cut after `most`
// characters.
inline constexpr std::size_t kPrintable = 60;
std::string printable(std::string_view name, std::size_t most = kPrintable);

}  // namespace etch
