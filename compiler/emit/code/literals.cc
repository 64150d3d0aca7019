// Literals of generated code; see literals.h.
#include "compiler/emit/code/literals.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/text/names.h"

namespace etch {
namespace {

constexpr std::size_t kColumns = 96;  // of a line of data

bool stands_for_itself(unsigned char byte) {
  return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '?';
}
bool is_octal_digit(unsigned char byte) { return byte >= '0' && byte <= '7'; }

// \0 to \377; padded to three digits where the next character would be read as one more.
void append_escape(std::string& line, unsigned char byte, bool digit_follows) {
  const auto digit = [](int value) { return static_cast<char>('0' + value); };
  line.push_back('\\');
  if (digit_follows || byte >= 0100) line.push_back(digit(byte >> 6));
  if (digit_follows || byte >= 010) line.push_back(digit((byte >> 3) & 7));
  line.push_back(digit(byte & 7));
}

template <class T>
T element_at(const ConstantArray& constant, std::size_t index) {
  T value;
  std::memcpy(&value, constant.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// The least value of a type has no literal of its own: its magnitude does not fit.
template <class T>
std::string integer_literal(T value) {
  if (std::is_signed_v<T> && value == std::numeric_limits<T>::min() && sizeof(T) >= 4) {
    return cat("(", value + 1, " - 1)");
  }
  return cat(+value, std::is_unsigned_v<T> && sizeof(T) >= 4 ? "U" : "");
}

template <class T>
std::string integer_rows(const ConstantArray& constant) {
  std::string out;
  std::string line = "   ";
  const std::size_t count = constant.bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string item = integer_literal(element_at<T>(constant, i)) + ",";
    if (line.size() + 1 + item.size() > kColumns) {
      out += line + "\n";
      line = "   ";
    }
    line += " " + item;
  }
  return out + line + "\n";
}

// Hexadecimal, so that every bit is there. What has no literal is a builtin of the compilers.
std::string float_literal(float value) {
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "__builtin_inff()";
  if (!std::isnan(value)) return hex_float(value);
  return cat(sign, "__builtin_nanf(\"", std::bit_cast<std::uint32_t>(value) & 0x3fffffU, "\")");
}

// Hexadecimal values, each followed by the decimal one.
std::string float_rows(const ConstantArray& constant) {
  constexpr std::size_t kPerLine = 4;
  const std::size_t count = constant.bytes.size() / sizeof(float);
  std::string out;
  for (std::size_t first = 0; first < count; first += kPerLine) {
    std::string line = "   ";
    std::string comment = "  //";
    for (std::size_t i = first; i < std::min(count, first + kPerLine); ++i) {
      const auto value = element_at<float>(constant, i);
      line += cat(" ", float_literal(value), ",");
      comment += " " + decimal(value);
    }
    out += line + comment + "\n";
  }
  return out;
}

std::string double_literal(double value) {
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "__builtin_inf()";
  if (std::isnan(value)) {
    constexpr std::uint64_t kPayload = (std::uint64_t{1} << 51) - 1;
    return cat(sign, "__builtin_nan(\"", std::bit_cast<std::uint64_t>(value) & kPayload, "\")");
  }
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

std::string double_rows(const ConstantArray& constant) {
  std::string out;
  for (std::size_t i = 0; i < constant.bytes.size() / sizeof(double); ++i)
    out += cat("    ", double_literal(element_at<double>(constant, i)), ",\n");
  return out;
}

std::string rows_of(const ConstantArray& constant) {
  switch (constant.element) {
    case DType::kF32:
      return float_rows(constant);
    case DType::kF64:
      return double_rows(constant);
    case DType::kU8:
    case DType::kBool:
      return integer_rows<std::uint8_t>(constant);
    case DType::kS8:
      return integer_rows<std::int8_t>(constant);
    case DType::kS16:
      return integer_rows<std::int16_t>(constant);
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return integer_rows<std::uint16_t>(constant);
    case DType::kS32:
      return integer_rows<std::int32_t>(constant);
    case DType::kU32:
      return integer_rows<std::uint32_t>(constant);
    case DType::kS64:
      return integer_rows<std::int64_t>(constant);
    case DType::kU64:
      return integer_rows<std::uint64_t>(constant);
    default:
      ETCH_CHECK(false && "nothing in memory has this type");
  }
}

// Shorter byte arrays are lists: compilers read them fast enough, and they end where they end.
constexpr std::size_t kShortBytes = 128;

bool is_literal(const ConstantArray& constant) {
  return is_byte_array(constant) && constant.bytes.size() > kShortBytes;
}

// Whether the zero at the end of a literal is the last of the data.
bool ends_in_zero(const ConstantArray& constant) { return constant.bytes.back() == std::byte{0}; }

}  // namespace

std::string string_literal(std::span<const std::byte> bytes) {
  std::string out;
  std::string line = "\"";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (line.size() + 5 > kColumns) {
      out += line + "\"\n";
      line = "\"";
    }
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (stands_for_itself(byte)) {
      line.push_back(static_cast<char>(byte));
    } else {
      // A new line starts a new piece of the literal, but whether it does is known only later.
      const bool last = i + 1 == bytes.size();
      append_escape(line, byte, !last && is_octal_digit(static_cast<unsigned char>(bytes[i + 1])));
    }
  }
  return out + line + "\"";
}

bool is_byte_array(const ConstantArray& constant) { return bytes_of(constant.element) == 1; }

std::int64_t declared_elements(const ConstantArray& constant) {
  ETCH_CHECK(!constant.bytes.empty());
  const auto bytes = static_cast<std::int64_t>(constant.bytes.size());
  const bool one_more = is_literal(constant) && !ends_in_zero(constant);
  return bytes / bytes_of(constant.element) + (one_more ? 1 : 0);
}

std::int64_t flash_bytes(const ConstantArray& constant, std::int64_t alignment) {
  return round_up(declared_elements(constant) * bytes_of(constant.element), alignment);
}

std::string declaration_of(std::string_view name, const ConstantArray& constant) {
  return cat("const ", c_type(constant.element), " ", name, "[", declared_elements(constant), "]");
}

std::string definition_of(std::string_view name, const ConstantArray& constant,
                          std::int64_t alignment, std::string_view attribute) {
  ETCH_CHECK(alignment % bytes_of(constant.element) == 0);
  std::string out = cat("// ", comment_text(constant.comment), "\n");
  out += cat("alignas(", alignment, ") ", declaration_of(name, constant), " ", attribute, " =");
  if (is_literal(constant)) {
    std::span<const std::byte> bytes = constant.bytes;
    if (ends_in_zero(constant)) bytes = bytes.first(bytes.size() - 1);
    return cat(out, "\n", string_literal(bytes), ";\n");
  }
  return cat(out, " {\n", rows_of(constant), "};\n");
}

}  // namespace etch
