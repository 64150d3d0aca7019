// Marks in recorded text; see size_marks.h. A mark is kOpen, a letter, its content, kClose.
#include "compiler/stage/size_marks.h"

#include <algorithm>
#include <cctype>

#include "compiler/base/check.h"
#include "compiler/base/observation.h"
#include "compiler/base/text.h"

namespace etch {
namespace {

constexpr char kOpen = '\x01';
constexpr char kClose = '\x02';
constexpr char kSeparator = '\x03';

enum Kind : char {
  kNumber = 'n',
  kTerm = 't',  // coefficient, separator, variable
  kOffset = 'o',
  kParameters = 'p',  // nothing: after the list
  kArguments = 'a',   // the function: after the list
};

std::string mark(Kind kind, const std::string& content) {
  return cat(kOpen, static_cast<char>(kind), content, kClose);
}

std::int64_t number_in(std::string_view text) {
  std::int64_t value = 0;
  const bool negative = text.starts_with('-');
  for (const char c : text.substr(negative ? 1 : 0)) {
    ETCH_CHECK(c >= '0' && c <= '9');
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

bool has_number(char kind) { return kind == kNumber || kind == kTerm || kind == kOffset; }

// Calls plain(text) and marked(kind, number, rest) for the pieces in order; the rest is the
// variable of a term, or the function of a call.
template <class Plain, class Marked>
void for_each_piece(std::string_view text, Plain plain, Marked marked) {
  while (!text.empty()) {
    const std::size_t open = std::min(text.find(kOpen), text.size());
    plain(text.substr(0, open));
    if (open == text.size()) return;
    const std::size_t close = text.find(kClose, open);
    ETCH_CHECK(close != std::string_view::npos);
    const char kind = text[open + 1];
    const std::string_view content = text.substr(open + 2, close - open - 2);
    const std::size_t separator = std::min(content.find(kSeparator), content.size());
    const std::int64_t number = has_number(kind) ? number_in(content.substr(0, separator)) : 0;
    marked(kind, number,
           has_number(kind) ? content.substr(std::min(separator + 1, content.size())) : content);
    text.remove_prefix(close + 1);
  }
}

// " + row * (size * 4)"
std::string term_text(std::string_view variable, const SizeFormula& coefficient) {
  if (!coefficient.is_constant()) return cat(" + ", variable, " * ", coefficient.factor());
  const std::int64_t value = coefficient.at(0);
  if (value == 0) return {};
  const std::int64_t magnitude = value < 0 ? -value : value;
  return cat(value < 0 ? " - " : " + ", variable,
             magnitude == 1 ? std::string() : cat(" * ", magnitude));
}

std::string offset_text(const SizeFormula& offset) {
  if (!offset.is_constant()) return cat(" + ", offset.factor());
  const std::int64_t value = offset.at(0);
  if (value == 0) return {};
  return value < 0 ? cat(" - ", -value) : cat(" + ", value);
}

SizeFormula constant(std::int64_t value) { return SizeFormula({{0, value}}); }

std::string text_of(char kind, const SizeFormula& number, std::string_view rest) {
  if (kind == kTerm) return term_text(rest, number);
  return kind == kOffset ? offset_text(number) : number.text();
}

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

bool is_integer(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool SizeMarks::on() { return Observation<SizeMarks>::current() != nullptr; }

std::string marked(std::int64_t value) { return mark(kNumber, cat(value)); }

std::string marked_term(const std::string& variable, std::int64_t coefficient) {
  return mark(kTerm, cat(coefficient, kSeparator, variable));
}

std::string marked_offset(std::int64_t value) { return mark(kOffset, cat(value)); }

std::string with_marked_integers(std::string_view text) {
  constexpr std::string_view kComment = "/*", kEnd = "*/";
  std::string out;
  while (!text.empty()) {
    std::size_t length = 0;
    if (text.starts_with(kComment)) {
      length = std::min(text.find(kEnd), text.size() - kEnd.size()) + kEnd.size();
    } else {
      while (length < text.size() && is_part_of_word(text[length])) ++length;
    }
    const std::string_view piece = text.substr(0, std::max<std::size_t>(1, length));
    text.remove_prefix(piece.size());
    if (!is_integer(piece)) {
      out += piece;
      continue;
    }
    const bool negative = out.ends_with('-');  // no difference: there are none in such texts
    if (negative) out.pop_back();
    out += marked(negative ? -number_in(piece) : number_in(piece));
  }
  return out;
}

std::string marked_parameters(const std::string& list) { return list + mark(kParameters, ""); }

std::string marked_arguments(const std::string& function, const std::string& list) {
  return list + mark(kArguments, function);
}

bool is_in_mark(std::string_view text, std::size_t position) {
  return position > 1 && text[position - 2] == kOpen;
}

std::string without_marks(std::string_view text) {
  std::string out;
  for_each_piece(
      text, [&](std::string_view plain) { out += plain; },
      [&](char kind, std::int64_t number, std::string_view rest) {
        if (has_number(kind)) out += text_of(kind, constant(number), rest);
      });
  return out;
}

MarkedText split_marks(std::string_view text) {
  MarkedText out;
  for_each_piece(
      text, [&](std::string_view plain) { out.skeleton += plain; },
      [&](char kind, std::int64_t number, std::string_view rest) {
        out.skeleton += cat(kOpen, kind, rest, kClose);
        if (has_number(kind)) out.numbers.push_back(number);
      });
  return out;
}

bool MarkFiller::needs_size(std::string_view text) const {
  bool needs = false;
  std::size_t next = next_;
  for_each_piece(
      text, [](std::string_view) {},
      [&](char kind, std::int64_t, std::string_view rest) {
        if (has_number(kind)) needs |= !numbers_[next++].is_constant();
        if (kind == kArguments) needs |= std::ranges::find(sized_, rest) != sized_.end();
      });
  return needs;
}

std::string MarkFiller::fill(const std::string& function, std::string_view text) {
  if (needs_size(text)) sized_.push_back(function);
  std::string out;
  // After a list that may be empty.
  const auto add = [&](const char* what) {
    if (!out.ends_with('(')) out += ", ";
    out += what;
  };
  for_each_piece(
      text, [&](std::string_view plain) { out += plain; },
      [&](char kind, std::int64_t, std::string_view rest) {
        if (has_number(kind)) out += text_of(kind, numbers_[next_++], rest);
        const std::string& callee = kind == kParameters ? function : std::string(rest);
        const bool is_list = kind == kParameters || kind == kArguments;
        if (!is_list || std::ranges::find(sized_, callee) == sized_.end()) return;
        add(kind == kParameters ? "int size" : "size");
      });
  return out;
}

}  // namespace etch
