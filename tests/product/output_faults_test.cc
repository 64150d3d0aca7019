// What etch writes is there as a whole or not at all, and the same each time: the short runs of
// tools/output-check and tools/determinism-check.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {

constexpr int kSkipped = 77;

void expect_passes(const std::string& tool) {
  if (find_program("python3").empty()) GTEST_SKIP() << "no python3";
  const ProcessResult result =
      run_process({"python3", source_dir() + "/tools/" + tool, "--etch", etch_binary(), "--short"},
                  std::chrono::minutes(9));
  if (result.exit_code == kSkipped) GTEST_SKIP() << result.output;
  EXPECT_TRUE(result.succeeded()) << describe(result) << "\n" << result.output << result.errors;
  EXPECT_NE(result.output.find("-check: PASS"), std::string::npos) << result.output;
}

TEST(OutputFaults, LeaveTheOldOrTheNewAndNothingElse) { expect_passes("output-check"); }

TEST(Determinism, ShowsInTwoRunsThatDifferInAllThatMustNotMatter) {
  expect_passes("determinism-check");
}

}  // namespace
}  // namespace etch::cli
