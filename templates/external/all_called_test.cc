// external_test.cc forgets no function of the runtime that has a descriptor.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "tests/support/paths.h"

namespace etch {
namespace {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ExternalDescriptors, EveryIsCalledBetweenGuards) {
  const std::filesystem::path folder = std::filesystem::path(source_dir()) / "templates/external";
  const std::string tests = text_of_file(folder / "external_test.cc");
  const std::regex descriptor(R"(struct (\w+) : RuntimeFunction)");
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    const std::string text = text_of_file(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), descriptor), end; it != end; ++it) {
      const std::string call = "guards\\(" + (*it)[1].str() + "[<{]";
      EXPECT_TRUE(std::regex_search(tests, std::regex(call))) << (*it)[1].str();
      ++found;
    }
  }
  EXPECT_GT(found, 40);
}

}  // namespace
}  // namespace etch
