// Long lines of generated code; see wrap.h.
#include "compiler/text/wrap.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/base/text.h"

namespace etch {
namespace {

std::string words(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += cat(i == 0 ? "" : " ", "word", i);
  return out;
}

// Without blanks, line ends and the backslashes before them.
std::string tokens(const std::string& code) {
  std::string out;
  for (const char c : code) {
    if (c != ' ' && c != '\n' && c != '\\') out.push_back(c);
  }
  return out;
}

void expect_narrow(const std::string& code) {
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = code.find('\n', at);
    EXPECT_LE(end - at, kMostColumns) << code.substr(at, end - at);
    EXPECT_NE(code[end - 1], ' ');
    at = end + 1;
  }
}

TEST(Wrap, LeavesLinesThatFit) {
  const std::string code = cat(std::string(kMostColumns, 'x'), "\n  y();\n\n// z");
  EXPECT_EQ(wrapped(code), code);
}

TEST(Wrap, BreaksCallsAfterACommaBeforeAnythingElse) {
  const std::string a(30, 'a'), b(30, 'b'), c(30, 'c');
  EXPECT_EQ(wrapped(cat("  call(", a, " + 1, ", b, " + 1, ", c, " + 1);\n")),
            cat("  call(", a, " + 1, ", b, " + 1,\n      ", c, " + 1);\n"));
}

TEST(Wrap, KeepsTheArgumentsOfOneCallTogether) {
  const std::string a(40, 'a'), b(40, 'b');
  EXPECT_EQ(wrapped(cat("  f(", a, ", at(", b, ", c), 12345, 12345);\n")),
            cat("  f(", a, ", at(", b, ", c),\n      12345, 12345);\n"));
  EXPECT_EQ(wrapped(cat("  f(", a, ", at(arena, ", b, " + 1234567));\n")),
            cat("  f(", a, ",\n      at(arena, ", b, " + 1234567));\n"));
}

TEST(Wrap, BreaksAtAnOperatorOrAParenthesisWithoutCommas) {
  const std::string a(60, 'a'), b(50, 'b');
  EXPECT_EQ(wrapped(cat("  x = ", a, " + ", b, ";\n")), cat("  x = ", a, " +\n      ", b, ";\n"));
  EXPECT_EQ(wrapped(cat(a, "(", b, ");\n")), cat(a, "(\n    ", b, ");\n"));
}

TEST(Wrap, BreaksCommentsBetweenWords) {
  const std::string out = wrapped(cat("    // ", words(40), "\n"));
  expect_narrow(out);
  std::string joined;
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = out.find('\n', at);
    EXPECT_EQ(out.substr(at, 7), "    // ");
    joined += cat(joined.empty() ? "" : " ", out.substr(at + 7, end - at - 7));
    at = end + 1;
  }
  EXPECT_EQ(joined, words(40));
}

TEST(Wrap, MovesACommentBeforeItsLine) {
  EXPECT_EQ(wrapped(cat("  x = 1;  // ", words(15), "\n")),
            cat("  // ", words(15), "\n  x = 1;\n"));
}

TEST(Wrap, ContinuesDirectivesAfterABackslash) {
  std::string line = "#if defined(A)";
  for (int i = 0; i < 10; ++i) line += cat(" && defined(MACRO_", i, ")");
  line += "\n";
  const std::string out = wrapped(line);
  expect_narrow(out);
  EXPECT_NE(out.find(" \\\n"), std::string::npos);
  EXPECT_EQ(tokens(out), tokens(line));
}

TEST(Wrap, NeverBreaksLiterals) {
  const std::string text = cat("\"", words(30), " // no comment, \\\" no end\"");
  EXPECT_EQ(wrapped(cat("    ", text, "\n")), cat("    ", text, "\n"));
  EXPECT_EQ(wrapped(cat("call(1, ", text, ", 2);\n")), cat("call(1,\n    ", text, ",\n    2);\n"));
  const std::string remark = cat("/* ", words(20), " */");
  EXPECT_EQ(wrapped(cat("call(", remark, ");\n")), cat("call(\n    ", remark, ");\n"));
}

}  // namespace
}  // namespace etch
