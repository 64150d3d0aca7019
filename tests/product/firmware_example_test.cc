// examples/firmware as its README says: one command builds an image for a microcontroller, runs it
// in an emulator and prints its sizes. Skipped, with what is missing, where the cross compiler or
// the emulator is not installed (tools/setup --cross).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "tests/support/paths.h"

namespace etch::cli {
namespace {
namespace fs = std::filesystem;

const fs::path kExamples = source_dir() + "/examples";

class FirmwareExample : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program :
         {"python3", "cmake", "ctest", "ninja", "arm-none-eabi-g++", "qemu-system-arm"}) {
      if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
    }
    Reporter reporter(Verbosity::kQuiet);
    folder_ = WorkFolder::make({}, reporter);
    ASSERT_NE(folder_, nullptr);
  }

  ProcessResult run(std::vector<std::string> arguments) const {
    const std::string script = (kExamples / "firmware/run").string();
    arguments.insert(arguments.begin(), {"python3", script, "--etch", etch_binary(), "--build",
                                         (folder_->path() / "build").string()});
    return run_process(arguments, std::chrono::minutes(5));
  }

  std::unique_ptr<WorkFolder> folder_;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The number after `label` in a text like "code 21,432, ...".
int number_behind(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  if (at == std::string::npos) return -1;
  int number = 0;
  for (std::size_t i = at + label.size(); i < text.size(); ++i) {
    if (text[i] == ',' && i + 1 < text.size() && text[i + 1] != ' ') continue;
    if (text[i] < '0' || text[i] > '9') break;
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

TEST_F(FirmwareExample, ClassifiesTheDigitsOnEveryCpuAndPrintsFlashAndRam) {
  // Targets: all that the example has a board for.
  for (const char* cpu : {"cortex-m4", "cortex-m55"}) {
    fs::remove_all(folder_->path() / "build");
    const ProcessResult result = run({cpu});
    ASSERT_TRUE(result.succeeded()) << cpu << result.output << result.errors;
    const std::string& said = result.output;
    EXPECT_NE(said.find("354 of 360 digits right; equal to ONNX Runtime, bit for bit: 360 of 360"),
              std::string::npos)
        << said;
    // The network has 7,344 weights, and the image nothing else that is large.
    const int constants = number_behind(said, "weights and other constants ");
    EXPECT_GT(constants, 7344);
    EXPECT_LT(constants, 3 * 7344);
    const int code = number_behind(said, "code ");
    EXPECT_GT(code, 1000);
    EXPECT_EQ(number_behind(said, "flash "), code + constants) << "no initial data";
    const int arena = number_behind(said, "\narena ");
    const int bss = number_behind(said, "bss with the arena ");
    EXPECT_GT(arena, 0);
    EXPECT_GE(bss, arena + 64 * 4 + 10 * 4);
    EXPECT_EQ(number_behind(said, "RAM "), bss + 4096);
    const int stack = number_behind(said, "most stack used ");
    EXPECT_GT(stack, 100);
    EXPECT_LT(stack, 4096);
  }
}

TEST_F(FirmwareExample, FailsWhenOneBitOfOneAnswerIsAnother) {
  std::string samples = contents(kExamples / "digits/heldout.bin");
  samples[105 * 7 + 65] = static_cast<char>(samples[105 * 7 + 65] ^ 1);
  const std::string path = (folder_->path() / "samples.bin").string();
  std::ofstream(path, std::ios::binary) << samples;
  const ProcessResult result = run({"cortex-m4", "--samples", path});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.output.find("bit for bit: 359 of 360"), std::string::npos) << result.output;
}

TEST_F(FirmwareExample, TakesAnotherModelAndItsTestData) {
  const std::string model = (kExamples / "digits/model.onnx").string();
  const ProcessResult result = run({"cortex-m4", "--model", model, "--build-type", "MinSizeRel",
                                    "--etch-option=--requantize=integer"});
  ASSERT_TRUE(result.succeeded()) << result.output << result.errors;
  EXPECT_NE(result.output.find("expected outputs, bit for bit: 5 of 5"), std::string::npos)
      << result.output;
}

TEST_F(FirmwareExample, ANetworkInOneFileIsTheSame) {
  // Targets: all that the example has a board for.
  for (const char* cpu : {"cortex-m4", "cortex-m55"}) {
    fs::remove_all(folder_->path() / "build");
    const ProcessResult result = run({cpu, "--etch-option=--single-file"});
    EXPECT_TRUE(result.succeeded()) << result.output << result.errors;
    EXPECT_NE(result.output.find("bit for bit: 360 of 360"), std::string::npos) << result.output;
  }
}

TEST_F(FirmwareExample, SaysWhatEtchSaysOfAModelThatIsRefused) {
  const std::string model = (folder_->path() / "model.onnx").string();
  std::ofstream(model, std::ios::binary) << "no model";
  const ProcessResult result = run({"cortex-m4", "--model", model});
  EXPECT_EQ(result.exit_code, 2) << result.errors;
  EXPECT_NE(result.errors.find("error[E-"), std::string::npos) << result.errors;
}

// The first held-out digits over the serial protocol of MLPerf Tiny.
TEST_F(FirmwareExample, AnswersTheHostOfMlperfTiny) {
  const std::string script = (kExamples / "mlperf-tiny/run").string();
  const ProcessResult result = run_process({"python3", script, "--etch", etch_binary(), "--limit",
                                            "12", "--build", (folder_->path() / "mlperf").string()},
                                           std::chrono::minutes(5));
  ASSERT_TRUE(result.succeeded()) << result.output << result.errors;
  const std::string& said = result.output;
  EXPECT_NE(said.find("m-name-dut-[etch]"), std::string::npos) << said;
  EXPECT_NE(said.find("equal to the recorded answers: 12 of 12"), std::string::npos) << said;
}

}  // namespace
}  // namespace etch::cli
