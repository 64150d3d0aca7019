// See wrap.h. Generated code has no raw strings and no comment over several lines.
#include "compiler/text/wrap.h"

#include <algorithm>

#include "compiler/base/text.h"

namespace etch {

namespace {

constexpr std::size_t kContinuation = 4;  // columns of indentation more

// Where one may break: the text before `end` on one line, the rest from `begin` on the next.
struct Break {
  std::size_t end = 0, begin = 0;
};

std::size_t indentation_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Past the string or character literal, or the comment in /* */, that starts at `at`; `at` if none
// does.
std::size_t after_token(std::string_view line, std::size_t at) {
  if (line.substr(at, 2) == "/*") return std::min(line.find("*/", at), line.size() - 2) + 2;
  const char quote = line[at];
  if (quote != '"' && quote != '\'') return at;
  std::size_t end = at + 1;
  while (end < line.size() && line[end] != quote) end += line[end] == '\\' ? 2U : 1U;
  return std::min(end + 1, line.size());
}

// Where the comment after the code of the line starts; its size if it has none.
std::size_t comment_in(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    if (line.substr(at, 2) == "//") return at;
    const std::size_t end = after_token(line, at);
    at = end == at ? at + 1 : end;
  }
  return line.size();
}

// The best of the breaks that leave a short line: the last one after a comma within the fewest
// brackets, or else the last one at an operator or after a parenthesis.
struct Best {
  Break comma, other;
  int depth = 0;  // of the comma
  void offer(Break found, bool is_comma, int brackets) {
    if (is_comma && comma.end > 0 && brackets > depth) return;
    if (is_comma) depth = brackets;
    (is_comma ? comma : other) = found;
  }
  Break take() const { return comma.end > 0 ? comma : other; }
  bool found() const { return comma.end > 0 || other.end > 0; }
};

// The last place to break within `most` columns, or the first one beyond.
Break last_break(std::string_view line, std::size_t most) {
  const std::size_t indentation = indentation_of(line);
  Best best;
  int depth = 0;
  for (std::size_t at = indentation; at < line.size() && (at < most || !best.found());) {
    const std::size_t end = after_token(line, at);
    if (end != at) {
      at = end;
      continue;
    }
    const bool is_space = line[at] == ' ' && at > indentation && line.substr(at + 1) != "{";
    if (is_space) best.offer({at, at + 1}, line[at - 1] == ',' || line[at - 1] == ';', depth);
    if (line[at] == '(' || line[at] == '{') ++depth;
    if (line[at] == ')' || line[at] == '}') --depth;
    if (line[at] == '(' && at + 1 < line.size() && line[at + 1] != ')') {
      best.other = {at + 1, at + 1};
    }
    ++at;
  }
  return best.take();
}

void write_comment(std::string& out, std::string_view indentation, std::string_view words) {
  constexpr std::string_view kStart = "// ";
  while (indentation.size() + kStart.size() + words.size() > kMostColumns) {
    const std::size_t most = kMostColumns - indentation.size() - kStart.size();
    const std::size_t space = words.rfind(' ', most);
    if (space == std::string_view::npos || space == 0) break;
    out += cat(indentation, kStart, words.substr(0, space), "\n");
    words.remove_prefix(space + 1);
  }
  out += cat(indentation, kStart, words, "\n");
}

// A statement, or a directive of the preprocessor, which goes on after a backslash.
void write_code(std::string& out, std::string line) {
  const bool directive = line.front() == '#';
  const std::string next(indentation_of(line) + kContinuation, ' ');
  while (line.size() > kMostColumns) {
    const Break at = last_break(line, directive ? kMostColumns - 2 : kMostColumns);
    if (at.end == 0) break;
    out += cat(line.substr(0, at.end), directive ? " \\\n" : "\n");
    line = cat(next, line.substr(at.begin));
  }
  out += line + "\n";
}

void write_line(std::string& out, std::string_view line) {
  const std::string_view indentation = line.substr(0, indentation_of(line));
  const std::size_t comment = comment_in(line);
  if (comment < line.size()) {
    const std::string_view words = line.substr(std::min(comment + 3, line.size()));
    write_comment(out, indentation, words);
    line = line.substr(0, comment);
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    if (line.size() <= indentation.size()) return;
  }
  write_code(out, std::string(line));
}

}  // namespace

std::string wrapped(std::string_view code) {
  std::string out;
  out.reserve(code.size() + code.size() / 16);
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    const std::string_view line = code.substr(0, end);
    if (line.size() <= kMostColumns) {
      out += line;
      if (end < code.size()) out.push_back('\n');
    } else {
      write_line(out, line);
    }
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return out;
}

}  // namespace etch
