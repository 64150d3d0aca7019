// Prose that people read is plain technical English: pages, comments and --help contain none of the
// words and phrases listed here, a private dialect that newcomers would have to decode.
// Where a phrase has a legitimate use, the entry lists it. Also, every section of docs/spec that a
// page or a comment cites exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

// Whose comments are checked, with all that is below them.
const std::vector<std::string> kFolders = {"cmake",   "compiler",  "examples", "fuzz", "python",
                                           "runtime", "templates", "tests",    "tools"};

// Whose --help is checked.
const std::vector<std::string> kCommands = {
    "bench",         "check",   "compile", "explain",         "fit", "golden",  "golden record",
    "golden verify", "inspect", "prove",   "quantize-params", "run", "targets", "tune"};

struct Phrase {
  std::string_view words;
  std::string_view instead;
  std::vector<std::string_view> allowed = {};  // longer phrases, with `words` in them
};

const std::vector<Phrase> kPhrases = {
    {"mend", "fix"},
    {"mends", "fixes"},
    {"mended", "fixed"},
    {"mending", "fixing"},
    {"behind", "after, following", {"behind a flag", "behind one entry", "left behind"}},
    {"stand", "be", {"stand for", "stand out"}},
    {"stands", "is, remains", {"stands for", "stands out"}},
    {"stood", "was", {"stood for"}},
    {"lie", "be"},
    {"lies", "is"},
    {"whoever", "a user who, code that"},
    {"whomever", "those who"},
    {"who is where", "layout"},
    {"likewise", "also, the same"},
    {"brings", "has, adds, gives"},
    {"heed", "use"},
    {"heeds", "uses"},
    {"wishes for", "requests"},
    {"but for", "except"},
    {"for ever", "forever, always"},
    {"as yet", "yet, so far"},
    {"by and by", "gradually"},
    {"everybody", "every user, all"},
    {"everybody's", "of each"},
    {"somebody", "a user"},
};

// Words in lower case between single spaces, with a full stop for any punctuation between them.
class Prose {
 public:
  void add(std::string_view piece, int line) {
    lines_.push_back({text_.size(), line});
    for (const char c : piece) add(c);
    if (text_.back() != ' ') text_ += ' ';
  }
  void interrupt() { add('.'); }

  std::vector<std::string> complaints() const {
    std::vector<std::string> out;
    for (const Phrase& phrase : kPhrases) {
      const std::string words = cat(" ", phrase.words, " ");
      for (std::size_t at = text_.find(words); at != std::string::npos;
           at = text_.find(words, at + 1)) {
        if (allows(phrase, at)) continue;
        out.push_back(
            cat("line ", line_of(at), ": \"", phrase.words, "\"; write ", phrase.instead));
      }
    }
    return out;
  }

 private:
  struct Line {
    std::size_t begin;
    int number;
  };

  void add(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '\'' || byte >= 0x80) {
      text_ += static_cast<char>(std::tolower(byte));
    } else if (std::isspace(byte) != 0) {
      if (text_.back() != ' ') text_ += ' ';
    } else if (!text_.ends_with(" . ")) {
      text_ += text_.back() == ' ' ? ". " : " . ";
    }
  }

  // True if the words at `at` are part of a longer phrase that is allowed.
  bool allows(const Phrase& phrase, std::size_t at) const {
    return std::ranges::any_of(phrase.allowed, [&](std::string_view longer) {
      const std::size_t before = longer.find(phrase.words);
      return before <= at &&
             text_.compare(at - before, longer.size() + 2, cat(" ", longer, " ")) == 0;
    });
  }

  int line_of(std::size_t at) const {
    const auto after = std::ranges::upper_bound(lines_, at + 1, {}, &Line::begin);
    return after == lines_.begin() ? 1 : std::prev(after)->number;
  }

  std::string text_ = " ";
  std::vector<Line> lines_;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view without_indent(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

Prose prose_of_text(std::string_view text) {
  Prose prose;
  int number = 0;
  for (const std::string_view line : lines_of(text)) prose.add(line, ++number);
  return prose;
}

// A page without its code.
Prose prose_of_markdown(std::string_view text) {
  Prose prose;
  bool fenced = false;
  bool code = false;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const bool fence = without_indent(line).starts_with("```");
    fenced = fenced != fence;
    if (line.empty() || fence) code = false;
    if (line.empty() || fence || fenced) {
      prose.interrupt();
      continue;
    }
    std::string words;
    for (const char c : line) {
      code = code != (c == '`');
      words += code ? '`' : c;
    }
    prose.add(words, number);
  }
  return prose;
}

// The end of the literal that begins at `at` with a quotation mark.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const char quote = text[at];
  if (quote == '"' && at > 0 && text[at - 1] == 'R') {
    const std::size_t open = std::min(text.find('(', at), text.size());
    const std::string end = cat(")", text.substr(at + 1, open - at - 1), "\"");
    const std::size_t found = text.find(end, open);
    return found == std::string_view::npos ? text.size() : found + end.size();
  }
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// The comments of C++.
Prose prose_of_cpp(std::string_view text) {
  Prose prose;
  int line = 1;
  int last = 0;  // line of the previous comment
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    const std::string_view two = text.substr(at, 2);
    const bool quote =
        text[at] == '"' || (text[at] == '\'' && !(at > 0 && std::isalnum(text[at - 1])));
    if (two == "//" || two == "/*") {
      end = two == "//" ? text.find('\n', at) : text.find("*/", at);
      end = std::min(end, text.size());
      if (line > last + 1) prose.interrupt();
      last = line - 1;
      for (const std::string_view each : lines_of(text.substr(at + 2, end - at - 2))) {
        prose.add(each, ++last);
      }
    } else if (quote) {
      end = end_of_literal(text, at);
    }
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                        text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at = end;
  }
  return prose;
}

// What follows a # outside of quotation marks.
std::string_view hash_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || line[i - 1] == ' ')) {
      return line.substr(i + 1);
    }
  }
  return {};
}

// Comments and docstrings of Python, comments of shell scripts and CMake.
Prose prose_of_script(std::string_view text) {
  Prose prose;
  bool docstring = false;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::string_view start = without_indent(line);
    const bool opens = !docstring && start.starts_with("\"\"\"");
    const std::string_view words = docstring || opens ? start : hash_comment(line);
    if (words.empty()) {
      prose.interrupt();
    } else {
      prose.add(words, number);
    }
    if (opens)
      docstring = start.find("\"\"\"", 3) == std::string_view::npos;
    else if (docstring)
      docstring = start.find("\"\"\"") == std::string_view::npos;
  }
  return prose;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Prose comments_of(const fs::path& path) {
  static const std::set<std::string> kCpp = {".cc", ".h", ".def", ".ld"};
  static const std::set<std::string> kScripts = {"", ".py", ".cmake", ".in", ".yml"};
  const std::string extension = path.extension().string();
  if (kCpp.count(extension) != 0) return prose_of_cpp(contents(path));
  if (kScripts.count(extension) != 0 || path.filename() == "CMakeLists.txt") {
    return prose_of_script(contents(path));
  }
  return {};
}

// Files below a folder of the project, without data and what tools leave.
std::vector<fs::path> files_below(const fs::path& folder) {
  static const std::set<std::string> kSkipped = {"data", "mutants", "__pycache__"};
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::end(at); ++at) {
    const bool skipped = kSkipped.count(at->path().filename().string()) != 0;
    if (at->is_directory() && skipped) at.disable_recursion_pending();
    if (at->is_regular_file()) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<fs::path> pages() {
  const fs::path root = source_dir();
  std::vector<fs::path> pages = {root / "README.md", root / "CONTRIBUTING.md",
                                 root / "SECURITY.md"};
  for (const char* folder : {"docs", "examples"}) {
    for (const fs::path& file : files_below(root / folder)) {
      if (file.extension() == ".md") pages.push_back(file);
    }
  }
  return pages;
}

void expect_plain(const Prose& prose, const std::string& where) {
  for (const std::string& complaint : prose.complaints())
    ADD_FAILURE() << where << ": " << complaint;
}

std::string name_of(const fs::path& path) { return path.lexically_relative(source_dir()).string(); }

// ---- citations ----

// The numbers of the sections of docs/spec/`page`.md: those that its headings begin with.
std::set<std::string> sections_of(const std::string& page) {
  std::set<std::string> sections;
  const std::string text = contents(fs::path(source_dir()) / "docs/spec" / cat(page, ".md"));
  for (std::string_view line : lines_of(text)) {
    if (!line.starts_with("#")) continue;
    line = without_indent(line.substr(line.find_first_not_of('#')));
    sections.emplace(line.substr(0, line.find_first_not_of("0123456789.")));
  }
  return sections;
}

// `text` on one line, without comment signs.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '#'; }, ' ');
  for (std::size_t at = text.find(" // "); at != std::string::npos; at = text.find(" // ", at)) {
    text.replace(at, 3, "");
  }
  return text;
}

// The sections that are cited at the beginning of `text`: " section 1.2", " sections 1.2 to 1.4".
std::vector<std::string> cited_sections(std::string_view text) {
  std::vector<std::string> sections;
  const auto skip = [&text](std::string_view words) {
    if (!text.starts_with(words)) return false;
    text.remove_prefix(words.size());
    return true;
  };
  if (!skip(" sections ") && !skip(" section ")) return {};
  do {
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    if (end == 0) break;  // "and" of the sentence
    sections.emplace_back(text.substr(0, end));
    while (sections.back().ends_with('.')) sections.back().pop_back();
    text.remove_prefix(end);
  } while (skip(" to ") || skip(" and "));
  return sections;
}

// What is wrong with the citations of docs/spec in the contents of a file.
std::vector<std::string> wrong_citations(const std::string& file) {
  const std::string text = on_one_line(file);
  const std::string start = "docs/spec/";
  std::vector<std::string> wrong;
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    const std::size_t name = at + start.size();
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", name);
    if (end == std::string::npos || text.compare(end, 3, ".md") != 0) continue;
    const std::string page = text.substr(name, end - name);
    const std::set<std::string> known = sections_of(page);
    if (known.empty()) wrong.push_back(cat(page, ".md does not exist"));
    for (const std::string& section : cited_sections(std::string_view(text).substr(end + 3))) {
      if (known.count(section) == 0) wrong.push_back(cat(page, ".md has no section ", section));
    }
  }
  return wrong;
}

// ---- tests ----

std::size_t count(const Prose& prose) { return prose.complaints().size(); }

TEST(Prose, FindsAListedPhraseInAnyCaseAndAcrossLines) {
  EXPECT_EQ(count(prose_of_text("It was Mended.")), 1U);
  EXPECT_EQ(count(prose_of_text("all but\n  for this")), 1U);
  EXPECT_EQ(prose_of_text("one\ntwo\nwhat stands\nhere").complaints(),
            std::vector<std::string>{"line 3: \"stands\"; write is, remains"});
}

TEST(Prose, LeavesOtherWordsAndLegitimateUsesAlone) {
  EXPECT_EQ(count(prose_of_text("understands stand-ins; recommended; nothing but. For all")), 0U);
  EXPECT_EQ(count(prose_of_text("it stands for 0, is behind a flag, and nothing is left behind")),
            0U);
  EXPECT_EQ(count(prose_of_text("it stands before the one behind it")), 2U);
  EXPECT_EQ(count(prose_of_text("it stands outside")), 1U);
}

TEST(Prose, OfAPageIsAllButItsCode) {
  EXPECT_EQ(count(prose_of_markdown("It `lies` here.\n\n```\nmended\n```\nIt `is\nlies`.")), 0U);
  EXPECT_EQ(count(prose_of_markdown("```\ncode\n```\nIt lies here.")), 1U);
}

TEST(Prose, OfASourceIsItsComments) {
  EXPECT_EQ(count(prose_of_cpp("f(\"// lies\", R\"(// lies)\", '\"', 1'0); // is // lies")), 1U);
  EXPECT_EQ(count(prose_of_cpp("/* what\n   lies */ int lies;\n// all but\n// for it\n")), 2U);
  EXPECT_EQ(count(prose_of_script("x = '# lies'  # mended\nlies = 1\n")), 1U);
  EXPECT_EQ(count(prose_of_script("def f():\n  \"\"\"What\n  lies.\"\"\"\n  lies()\n")), 1U);
}

TEST(Prose, OfPagesIsPlain) {
  for (const fs::path& page : pages()) {
    expect_plain(prose_of_markdown(contents(page)), name_of(page));
  }
}

TEST(Prose, OfCommentsIsPlain) {
  for (const std::string& folder : kFolders) {
    for (const fs::path& file : files_below(fs::path(source_dir()) / folder)) {
      expect_plain(comments_of(file), name_of(file));
    }
  }
}

TEST(Prose, OfHelpIsPlain) {
  for (const std::string& command : kCommands) {
    std::vector<std::string> arguments = {etch_binary()};
    std::istringstream words(command);
    for (std::string word; words >> word;) arguments.push_back(word);
    arguments.emplace_back("--help");
    const cli::ProcessResult help = cli::run_process(arguments, std::chrono::minutes(1));
    ASSERT_TRUE(help.succeeded()) << help.errors;
    expect_plain(prose_of_text(help.output), cat("etch ", command, " --help"));
  }
}

TEST(Prose, AWrongCitationOfTheSpecificationIsFound) {
  EXPECT_EQ(wrong_citations("// see docs/spec/numbers.md\n// section 1.3.").size(), 0U);
  EXPECT_EQ(wrong_citations("docs/spec/numbers.md section 1.3 and more").size(), 0U);
  EXPECT_EQ(wrong_citations("see docs/spec/numbers.md section 9.9").size(), 1U);
  EXPECT_EQ(wrong_citations("see docs/spec/shapes.md sections 4.1 to 4.9").size(), 1U);
  EXPECT_EQ(wrong_citations("see docs/spec/nothing.md").size(), 1U);
}

TEST(Prose, CitedSectionsOfTheSpecificationExist) {
  for (const char* folder : {"compiler", "docs", "runtime", "templates", "tests", "tools"}) {
    for (const fs::path& file : files_below(fs::path(source_dir()) / folder)) {
      if (file.filename() == "prose_test.cc" || file.extension() == ".svg") continue;
      for (const std::string& wrong : wrong_citations(contents(file))) {
        ADD_FAILURE() << name_of(file) << ": " << wrong;
      }
    }
  }
}

}  // namespace
}  // namespace etch
