// See lexer.h. Raw strings, which may contain assembly, are known.
#include "fuzz/lexer.h"

#include <vector>

#include "compiler/base/text.h"

namespace etch::fuzz {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Lexer {
 public:
  explicit Lexer(std::string_view code) : code_(code) {}

  std::string fault() {
    if (code_.find("??") != std::string_view::npos) return "may hold a trigraph";
    while (fault_.empty() && at_ < code_.size()) next();
    if (fault_.empty() && !open_.empty()) fail("ends within brackets");
    return fault_;
  }

 private:
  void fail(const char* what) {
    std::size_t line = 1;
    for (std::size_t i = 0; i < at_ && i < code_.size(); ++i) line += code_[i] == '\n' ? 1U : 0U;
    fault_ = cat(what, " at line ", line);
  }

  // Two characters. Not by comparing strings: libFuzzer looks at each call of memcmp, and code is
  // read character by character.
  bool sees(char first, char second) const {
    return code_[at_] == first && at_ + 1 < code_.size() && code_[at_ + 1] == second;
  }

  void next() {
    const char c = code_[at_];
    if (sees('/', '/')) return line_comment();
    if (sees('/', '*')) return skip_to("*/", 2, "has an open comment");
    if (sees('*', '/')) return fail("ends a comment that is not open");
    if (sees('R', '"') && (at_ == 0 || !is_word(code_[at_ - 1]))) return raw_string();
    if (c == '"') return quoted('"');
    if (c == '\'' && !(at_ > 0 && is_word(code_[at_ - 1]))) return quoted('\'');
    if (c == '(' || c == '[' || c == '{') open_.push_back(c);
    if (c == ')' || c == ']' || c == '}') close(c);
    ++at_;
  }

  void close(char c) {
    const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (open_.empty() || open_.back() != wanted) return fail("closes a bracket that is not open");
    open_.pop_back();
  }

  void line_comment() {
    const std::size_t end = code_.find('\n', at_);
    if (end == std::string_view::npos) return fail("ends within a comment");
    at_ = end;
    if (code_[end - 1] == '\\') fail("has a comment that continues on the next line");
  }

  void skip_to(std::string_view end, std::size_t skip, const char* fault) {
    const std::size_t found = code_.find(end, at_ + skip);
    if (found == std::string_view::npos) return fail(fault);
    at_ = found + end.size();
  }

  void raw_string() {
    const std::size_t bracket = code_.find('(', at_);
    if (bracket == std::string_view::npos) return fail("has a raw string without a bracket");
    const std::string end = cat(")", code_.substr(at_ + 2, bracket - at_ - 2), "\"");
    skip_to(end, 2, "has an open raw string");
  }

  void quoted(char quote) {
    for (++at_; at_ < code_.size() && code_[at_] != quote; ++at_) {
      if (code_[at_] == '\n') return fail("has an open string");
      if (code_[at_] == '\\') ++at_;
    }
    if (at_ >= code_.size()) return fail("has an open string");
    ++at_;
  }

  std::string_view code_;
  std::size_t at_ = 0;
  std::vector<char> open_;
  std::string fault_;
};

}  // namespace

std::string fault_of_code(std::string_view code) { return Lexer(code).fault(); }

}  // namespace etch::fuzz
