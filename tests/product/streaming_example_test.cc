// examples/streaming as its README says: one command builds a program that takes a recording frame
// by frame, its State carried over all of them, here and as an image in QEMU. Skipped, with what is
// missing, where a compiler or the emulator is not installed (tools/setup --cross).
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/base/scratch_folder.h"
#include "compiler/base/text.h"
#include "compiler/host/process.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

constexpr char kAllEqual[] = "bit for bit: 100 of 100; the state after them: equal\n";

class StreamingExample : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"python3", "cmake", "ctest", "ninja", "g++"}) {
      if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
    }
  }

  ProcessResult run(std::vector<std::string> arguments) const {
    const std::string script = source_dir() + "/examples/streaming/run";
    arguments.insert(arguments.begin(), {"python3", script, "--etch", etch_binary(), "--build",
                                         (folder_.path() / "build").string()});
    return run_process(arguments, std::chrono::minutes(5));
  }

  // The recording with one bit of this byte inverted.
  std::string damaged(std::size_t byte) const {
    std::string bytes = contents_of(source_dir() + "/examples/streaming/recording.bin");
    bytes.at(byte) = static_cast<char>(bytes.at(byte) ^ 1);
    std::string path = (folder_.path() / "recording.bin").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  const ScratchFolder folder_{fs::temp_directory_path()};
};

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Both passes are equal: the second one begins with reset().
TEST_F(StreamingExample, HearsTheWordOnceAndEqualsOnnxRuntimeInEveryFrame) {
  const ProcessResult result = run({});
  ASSERT_TRUE(result.succeeded()) << result.output << result.errors;
  EXPECT_EQ(occurrences(result.output, "the word, at "), 1) << result.output;
  EXPECT_NE(result.output.find("the word, at 790 ms\n"), std::string::npos) << result.output;
  EXPECT_EQ(occurrences(result.output, kAllEqual), 2) << result.output;
}

TEST_F(StreamingExample, IsTheSameOnACortexM) {
  for (const char* program : {"arm-none-eabi-g++", "qemu-system-arm"}) {
    if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
  }
  // Targets: all that the example has a board for.
  for (const char* cpu : {"cortex-m4", "cortex-m55"}) {
    fs::remove_all(folder_.path() / "build");
    const ProcessResult result = run({cpu});
    ASSERT_TRUE(result.succeeded()) << cpu << result.output << result.errors;
    EXPECT_NE(result.output.find("the word, at 790 ms\n"), std::string::npos) << result.output;
    EXPECT_EQ(occurrences(result.output, kAllEqual), 2) << result.output;
  }
}

TEST_F(StreamingExample, FailsWhenOneBitOfAnAnswerOrOfTheStateIsAnother) {
  constexpr std::size_t kRecord = 82, kAnswer = 80, kFrames = 100;
  const ProcessResult answer = run({"--recording", damaged(kRecord * 50 + kAnswer)});
  EXPECT_NE(answer.exit_code, 0);
  EXPECT_EQ(occurrences(answer.output, "99 of 100; the state after them: equal\n"), 2)
      << answer.output;
  const ProcessResult state = run({"--recording", damaged(kRecord * kFrames + 367)});
  EXPECT_NE(state.exit_code, 0);
  EXPECT_EQ(occurrences(state.output, "100 of 100; the state after them: differs\n"), 2)
      << state.output;
}

}  // namespace
}  // namespace etch::cli
