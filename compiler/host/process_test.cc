// Running other programs.
#include "compiler/host/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

namespace etch::cli {
namespace {

using namespace std::chrono_literals;
using End = ProcessResult::End;

TEST(RunProcess, CapturesBothStreamsAndTheExitCode) {
  const ProcessResult result = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, 10s);
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_FALSE(result.succeeded());
}

TEST(RunProcess, TakesOutputLargerThanAPipeHolds) {
  const ProcessResult result =
      run_process({"sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"}, 10s);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.output.size(), 1000000U);
  EXPECT_EQ(result.errors.size(), 1000000U);
}

TEST(RunProcess, PassesArgumentsUntouched) {
  const ProcessResult result = run_process({"printf", "%s|", "a b", "$HOME", "; false", "*"}, 10s);
  EXPECT_EQ(result.output, "a b|$HOME|; false|*|");
}

TEST(RunProcess, GivesNoInput) { EXPECT_EQ(run_process({"cat"}, 10s).output, ""); }

TEST(RunProcess, ReportsSignals) {
  const ProcessResult result = run_process({"sh", "-c", "kill -SEGV $$"}, 10s);
  EXPECT_EQ(result.end, End::kSignal);
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(describe(result), "signal 11 (Segmentation fault)");
}

TEST(RunProcess, ReportsAMissingProgram) {
  const ProcessResult result = run_process({"/no/such/program"}, 10s);
  EXPECT_EQ(result.end, End::kNotStarted);
  EXPECT_EQ(describe(result), "cannot be started: No such file or directory");
}

TEST(RunProcess, KillsAfterTheTimeoutWithEverythingThatWasStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult result = run_process({"sh", "-c", "sleep 60 & sleep 60"}, 200ms);
  EXPECT_EQ(result.end, End::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(RunProcess, WaitsForAProgramThatClosesItsStreams) {
  const ProcessResult result = run_process({"sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 5"}, 10s);
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.exit_code, 5);
}

TEST(FindProgram, LooksInPath) {
  EXPECT_EQ(find_program("sh").filename(), "sh");
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_TRUE(find_program("no-such-program-anywhere").empty());
  EXPECT_TRUE(find_program("/tmp").empty());  // a folder
  EXPECT_TRUE(find_program("").empty());
}

}  // namespace
}  // namespace etch::cli
