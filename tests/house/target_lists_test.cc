// No test lists targets by name without saying why these: a new instruction set would not be among
// them. Tests take theirs from all_targets(), by tests/support/targets.h; where names have to be
// listed, a comment "Targets: ..." on one of the three lines before gives the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/targets/multi.h"
#include "compiler/targets/targets.h"
#include "tests/support/paths.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

bool is_target(std::string_view name) {
  const auto same = [&](const auto* isa) { return isa->name == name; };
  const auto same_machine = [&](const CrossTarget& each) { return each.isa->name == name; };
  return is_multi(name) || std::ranges::any_of(all_targets(), same) ||
         std::ranges::any_of(cross_targets(), same_machine);
}

// The name that a quoted target at the beginning of `text` has; empty if there is none.
std::string_view target_at(std::string_view text) {
  if (!text.starts_with('"')) return {};
  const std::string_view name = text.substr(1, text.substr(1).find('"'));
  return is_target(name) ? name : std::string_view();
}

// The lines, from 1, on which two targets follow each other without a reason.
std::vector<std::size_t> lists_without_reason(std::string_view text) {
  std::vector<std::size_t> lines;
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts.push_back(i + 1);
    const std::string_view first = target_at(text.substr(i));
    if (first.empty()) continue;
    std::string_view rest = text.substr(i + first.size() + 2);
    const std::size_t second = rest.find_first_not_of(" \n", 1);
    if (!rest.starts_with(',') || second == std::string_view::npos) continue;
    if (target_at(rest.substr(second)).empty()) continue;
    const std::size_t line = starts.size();
    const std::size_t from = starts[line - std::min<std::size_t>(line, 4)];
    const std::string_view before = text.substr(from, i - from);
    const bool told = before.find("// Targets: ") != std::string_view::npos;
    if (!told && (lines.empty() || lines.back() != line)) lines.push_back(line);
  }
  return lines;
}

bool is_test(const fs::path& file, const fs::path& root) {
  const std::string path = fs::relative(file, root).generic_string();
  if (file.extension() != ".cc" && file.extension() != ".h") return false;
  return path.starts_with("tests/") || path.ends_with("_test.cc");
}

std::vector<fs::path> test_files() {
  const fs::path root = source_dir();
  std::vector<fs::path> files;
  for (const char* folder : {"compiler", "runtime", "templates", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (is_test(entry.path(), root)) files.push_back(entry.path());
    }
  }
  return files;
}

TEST(TargetLists, AreFoundUnlessTheyGiveAReason) {
  const std::string list = cat("f({\"scalar\"", ",\n   \"avx2\"});\n");
  EXPECT_EQ(lists_without_reason("\n" + list), std::vector<std::size_t>{2});
  EXPECT_EQ(lists_without_reason("// Targets: only these\n" + list), std::vector<std::size_t>());
  EXPECT_EQ(lists_without_reason("// Targets: of another list\n\n\n\n" + list),
            std::vector<std::size_t>{5});
  EXPECT_EQ(lists_without_reason("f({\"scalar\"}, \"--target\", \"avx2\");"),
            std::vector<std::size_t>());
}

TEST(TargetLists, AreInNoTestWithoutAReason) {
  const std::vector<fs::path> files = test_files();
  EXPECT_GT(files.size(), 200U);
  for (const fs::path& file : files) {
    for (const std::size_t line : lists_without_reason(contents_of(file))) {
      ADD_FAILURE() << file.string() << ":" << line
                    << ": lists targets; see tests/support/targets.h";
    }
  }
}

}  // namespace
}  // namespace etch
