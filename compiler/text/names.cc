// Spelling of generated code; see names.h.
#include "compiler/text/names.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/base/text.h"

namespace etch {
namespace {

// Keywords of C++20 and C11, and names that the generated files or the platform use themselves.
constexpr std::string_view kReserved[] = {"alignas",     "alignof",
                                          "and",         "and_eq",
                                          "asm",         "auto",
                                          "bitand",      "bitor",
                                          "bool",        "break",
                                          "case",        "catch",
                                          "char",        "char16_t",
                                          "char32_t",    "char8_t",
                                          "class",       "co_await",
                                          "co_return",   "co_yield",
                                          "compl",       "concept",
                                          "const",       "const_cast",
                                          "consteval",   "constexpr",
                                          "constinit",   "continue",
                                          "decltype",    "default",
                                          "delete",      "do",
                                          "double",      "dynamic_cast",
                                          "else",        "enum",
                                          "etch",        "explicit",
                                          "export",      "extern",
                                          "false",       "float",
                                          "for",         "friend",
                                          "goto",        "if",
                                          "inline",      "int",
                                          "isa",         "linux",
                                          "long",        "main",
                                          "memcpy",      "memset",
                                          "mutable",     "namespace",
                                          "new",         "noexcept",
                                          "not",         "not_eq",
                                          "nullptr",     "operator",
                                          "or",          "or_eq",
                                          "posix",       "private",
                                          "profile",     "protected",
                                          "ptrdiff_t",   "public",
                                          "register",    "reinterpret_cast",
                                          "requires",    "restrict",
                                          "return",      "run",
                                          "short",       "signed",
                                          "size_t",      "sizeof",
                                          "static",      "static_assert",
                                          "static_cast", "std",
                                          "steps",       "struct",
                                          "switch",      "template",
                                          "this",        "thread_local",
                                          "throw",       "true",
                                          "try",         "typedef",
                                          "typeid",      "typename",
                                          "union",       "unix",
                                          "unsigned",    "using",
                                          "virtual",     "void",
                                          "volatile",    "wchar_t",
                                          "while",       "xor",
                                          "xor_eq"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_usable_name(std::string_view name) {
  constexpr std::size_t kLongest = 40;
  if (name.empty() || name.size() > kLongest || !is_letter(name.front())) return false;
  if (name.find("__") != std::string_view::npos) return false;
  if (!std::all_of(name.begin(), name.end(),
                   [](char c) { return is_letter(c) || is_digit(c) || c == '_'; })) {
    return false;
  }
  if (name.size() > 2 && name.substr(name.size() - 2) == "_t") return false;
  return std::find(std::begin(kReserved), std::end(kReserved), name) == std::end(kReserved);
}

bool is_usable_section(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest || is_digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; });
}

std::string_view c_type(DType type) {
  switch (type) {
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kS8:
      return "int8_t";
    case DType::kS16:
      return "int16_t";
    case DType::kS32:
      return "int32_t";
    case DType::kS64:
      return "int64_t";
    case DType::kU32:
      return "uint32_t";
    case DType::kU64:
      return "uint64_t";
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return "uint16_t";
    case DType::kU8:
    case DType::kBool:
      return "uint8_t";
    case DType::kU4:
    case DType::kS4:
      break;  // nothing in memory has these types
  }
  ETCH_CHECK(false);
}

std::string pointer_type(DType element, bool is_const) {
  return cat(is_const ? "const " : "", c_type(element), "*");
}

std::string macro_stem(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string comment_text(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c < 0x20 || c > 0x7e || c == '\\' || c == '?') c = '.';
  }
  return out;
}

std::string with_thousands(long long value) {
  std::string out = cat(value);
  const int first = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(out.size()) - 3; at > first; at -= 3) {
    out.insert(static_cast<std::size_t>(at), ",");
  }
  return out;
}

}  // namespace etch
