// docs/tutorial-cortex-m4.md does what it says: its blocks of shell commands run in the order of
// the page, and what the page shows of their output is there. Skipped, with what is missing, where
// the cross compiler or the emulator is not installed (tools/setup --cross).
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

// The lines of all fenced blocks of `language` of a page.
std::vector<std::string> fenced_lines(const std::string& page, const std::string& language) {
  std::vector<std::string> lines;
  std::istringstream text(page);
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      inside = !inside && line == cat("```", language);
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

std::string tutorial() { return contents_of(source_dir() + "/docs/tutorial-cortex-m4.md"); }

// The commands, in a folder in which examples/ is as in a clone and `etch` is the one that is
// tested. A user's shell goes on after an error; here the first one ends it.
ProcessResult run_commands(const fs::path& folder) {
  fs::create_directory_symlink(source_dir() + "/examples", folder / "examples");
  std::ofstream script(folder / "commands.sh");
  script << "export PATH='" << fs::path(etch_binary()).parent_path().string() << "':\"$PATH\"\n";
  for (const std::string& line : fenced_lines(tutorial(), "sh")) script << line << "\n";
  script.close();
  return run_process({"bash", "--noprofile", "--norc", "-eu", "-o", "pipefail", "commands.sh"},
                     std::chrono::minutes(5), folder);
}

TEST(Tutorial, ForCortexM4RunsAndPrintsWhatThePageShows) {
  for (const char* program :
       {"bash", "arm-none-eabi-g++", "arm-none-eabi-size", "qemu-system-arm"}) {
    if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
  }
  Reporter reporter(Verbosity::kQuiet);
  const std::unique_ptr<WorkFolder> folder = WorkFolder::make({}, reporter);
  ASSERT_NE(folder, nullptr);
  const ProcessResult result = run_commands(folder->path());
  ASSERT_TRUE(result.succeeded()) << describe(result) << result.output << result.errors;

  // "..." ends what has to be there of a line: numbers that differ from machine to machine follow.
  const std::string said = cat("\n", result.output, "\n", result.errors);
  const std::vector<std::string> shown = fenced_lines(tutorial(), "text");
  EXPECT_GT(shown.size(), 5U);
  for (const std::string& line : shown) {
    const std::size_t end = line.find(" ...");
    EXPECT_NE(said.find(cat("\n", line.substr(0, end), end == std::string::npos ? "\n" : "")),
              std::string::npos)
        << line << "\n"
        << said;
  }
}

}  // namespace
}  // namespace etch::cli
