// The header's words become the options that they were.
#include "compiler/cli/making.h"

#include <gtest/gtest.h>

#include "compiler/text/names.h"

namespace etch::cli {
namespace {

TEST(Making, WordsOfALineAreThoseThatWereWritten) {
  const std::vector<std::string> words = {"--cut", "a b", "", "x=1,2", "[0]; @"};
  std::string line = " ";
  for (const std::string& word : words) line += " " + shell_word(word);
  EXPECT_EQ(words_of_line(line), words);
  EXPECT_TRUE(words_of_line("").empty());
}

}  // namespace
}  // namespace etch::cli
