// The embedded copies must be the files of the source tree, byte for byte.

#include "compiler/base/embedded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/paths.h"

namespace etch {
namespace {

std::string read_source_file(std::string_view path) {
  std::ifstream file(std::string(source_dir() + "/").append(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(EmbeddedFiles, AreTheSourceFilesByteForByte) {
  ASSERT_FALSE(embedded_files().empty());
  for (const EmbeddedFile& file : embedded_files()) {
    EXPECT_EQ(file.text, read_source_file(file.path)) << file.path;
  }
}

TEST(EmbeddedFiles, AreSortedByPath) {
  const auto files = embedded_files();
  EXPECT_TRUE(
      std::is_sorted(files.begin(), files.end(),
                     [](const EmbeddedFile& a, const EmbeddedFile& b) { return a.path < b.path; }));
}

TEST(EmbeddedFiles, AreFoundByPath) {
  for (const EmbeddedFile& file : embedded_files()) {
    EXPECT_EQ(embedded_file(file.path).data(), file.text.data());
  }
}

TEST(EmbeddedFilesDeathTest, AbortOnAPathThatIsNotEmbedded) {
  EXPECT_DEATH(embedded_file("templates/isa/none/vocab.h"), "");
}

}  // namespace
}  // namespace etch
