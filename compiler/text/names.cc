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

// Macros of platforms, keywords of C23 and Objective-C, and what the body of run() calls or names.
constexpr std::string_view kNoParameters[] = {
    "arena",  "at",   "call",       "complex",   "environ",       "errno",  "far",
    "hyper",  "i386", "id",         "imaginary", "interface",     "near",   "noreturn",
    "pixel",  "rt",   "run_shares", "self",      "small",         "stderr", "stdin",
    "stdout", "task", "threads",    "typeof",    "typeof_unqual", "vector"};

// Names that the body of run() has begin so, with a number: steps and where their tensors are
// ("n3_conv_y"), ports without a usable name ("input0"), functions of shares.
constexpr std::string_view kNumbered[] = {"n", "buffer", "input", "output", "share_of_n"};

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

std::string_view shown_name(std::string_view name) {
  constexpr std::size_t kLongest = 44;
  if (name.empty() || name.size() > kLongest) return {};
  const std::size_t first = name.front() == '/' || name.front() == '_' ? 1 : 0;
  if (first == name.size() || !is_letter(name[first])) return {};
  for (const char* pair : {"..", "//", "::"}) {
    if (name.find(pair) != std::string_view::npos) return {};
  }
  constexpr std::string_view kOthers = "_.-:/";
  const bool good = std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || kOthers.find(c) != std::string_view::npos;
  });
  return good ? name : std::string_view();
}

bool is_usable_parameter(std::string_view name) {
  if (!is_usable_name(name) || name.front() < 'a') return false;
  const bool is_constant = name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z';
  if (is_constant) return false;  // of NAME.h: kArenaAlignment
  for (const std::string_view stem : kNumbered) {
    const bool starts = name.size() > stem.size() && name.substr(0, stem.size()) == stem;
    if (starts && is_digit(name[stem.size()])) return false;
  }
  return std::find(std::begin(kNoParameters), std::end(kNoParameters), name) ==
         std::end(kNoParameters);
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "_.-:/=,+";
  bool plain = !text.empty();
  std::string out;
  for (const char c : text) {
    const bool harmless = is_letter(c) || is_digit(c) || kPlain.find(c) != std::string_view::npos;
    plain = plain && harmless;
    const bool kept = harmless || std::string_view(" []<;@").find(c) != std::string_view::npos;
    out.push_back(kept ? c : '.');
  }
  return plain ? out : cat("'", out, "'");
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
