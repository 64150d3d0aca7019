// The vocabularies of other machines against the portable model, bit for bit, in their emulators;
// see vocab_test.cc, which does it for this machine's. Skipped where compiler or emulator are
// missing.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/build.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "compiler/targets/targets.h"
#include "templates/isa/vocab_data.h"
#include "tests/support/paths.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

using vocab_check::Data;
using vocab_check::Output;

constexpr unsigned kSeeds = 200;

// Every target with verbs of its own.
std::vector<const IsaTraits*> vocabularies() {
  std::vector<const IsaTraits*> out;
  for (const CrossTarget& target : cross_targets()) {
    if (folder_of_target(target.isa->name) == target.isa->verbs()) out.push_back(target.isa);
  }
  return out;
}

class CrossVocabulary : public testing::TestWithParam<const IsaTraits*> {
 protected:
  void SetUp() override {
    const std::string missing = cli::status_of(*GetParam()).missing;
    if (!missing.empty()) GTEST_SKIP() << GetParam()->name << ": " << missing;
    folder_ = cli::WorkFolder::make({}, reporter_);
    ASSERT_NE(folder_, nullptr);
  }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_->path() / name, std::ios::binary) << content;
  }

  // Builds the program with these flags besides the target's own.
  std::optional<fs::path> build(const std::vector<std::string>& flags) {
    auto toolchain = cli::find_toolchain(*GetParam(), reporter_);
    if (!toolchain) return std::nullopt;
    for (const char* folder : {"", "/runtime", "/templates/isa/shared"}) {
      toolchain->flags.push_back(cat("-I", source_dir(), folder));
    }
    toolchain->flags.insert(toolchain->flags.end(), flags.begin(), flags.end());
    const std::string isa = folder_of_target(GetParam()->name);
    write("program.cc",
          cat("#include \"templates/isa/", isa, "/vocab.h\"\n", "#define ETCH_VOCABULARY ", isa,
              "\n", "#include \"templates/isa/vocab_verbs.h\"\n",
              "#define ETCH_VOCAB_CHECK etch_vocab_check_", isa, "\n",
              "#include \"templates/isa/vocab_program.cc\"\n"));
    for (const OutputFile& file : cli::machine_files(*toolchain->machine)) {
      write(file.path, file.content);
    }
    const auto built =
        cli::build_program(folder_->path(), {"program.cc"}, "program", *toolchain, reporter_);
    toolchain_ = std::move(*toolchain);
    if (!built) return std::nullopt;
    return fs::absolute(built->program);
  }

  void expect_agreement(const std::vector<std::string>& flags) {
    const std::optional<fs::path> program = build(flags);
    ASSERT_TRUE(program);
    std::string input;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      const std::unique_ptr<Data> data = vocab_check::random_data(*GetParam(), seed);
      input.append(reinterpret_cast<const char*>(data.get()), sizeof(Data));
    }
    write("input", input);
    const auto command = cli::command_to_run(toolchain_, *program, {"input", "output"});
    const auto result = cli::run_process(command, std::chrono::minutes(5), folder_->path());
    ASSERT_TRUE(result.succeeded()) << cli::describe(result) << result.errors;
    std::ifstream output(folder_->path() / "output", std::ios::binary);
    for (unsigned seed = 0; seed < kSeeds; ++seed) compare(seed, output);
  }

  void compare(unsigned seed, std::ifstream& output) {
    static std::uint8_t page[4096];
    const auto expected = std::make_unique<Output>();
    const auto actual = std::make_unique<Output>();
    const std::unique_ptr<Data> data = vocab_check::random_data(*GetParam(), seed);
    expected->results = actual->results = 0;
    vocab_check::run_model(*GetParam(), vocab_check::input_of(*data, page + sizeof page),
                           *expected);
    const auto read = [&](void* to, std::size_t bytes) {
      output.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    };
    read(&actual->results, sizeof actual->results);
    ASSERT_EQ(actual->results, expected->results);
    const auto results = static_cast<std::size_t>(actual->results);
    read(actual->end, results * sizeof actual->end[0]);
    ASSERT_LE(actual->end[results - 1], static_cast<int>(sizeof actual->data));
    read(actual->data, static_cast<std::size_t>(actual->end[results - 1]));
    ASSERT_TRUE(output.good());
    ASSERT_EQ(first_difference(*expected, *actual), "") << "seed " << seed;
  }

  cli::Reporter reporter_{cli::Verbosity::kQuiet};
  std::unique_ptr<cli::WorkFolder> folder_;
  cli::Toolchain toolchain_;
};

TEST_P(CrossVocabulary, AgreesWithTheModelBitForBit) {
  expect_agreement({"-Wall", "-Wextra", "-Werror", "-ffp-contract=fast"});
}

TEST_P(CrossVocabulary, AgreesUnoptimized) { expect_agreement({"-O0"}); }

TEST_P(CrossVocabulary, SaysWithWhichFlagsItIsCompiled) {
  const std::vector<std::string> needed = target_flags(GetParam()->name);
  if (needed.empty()) GTEST_SKIP() << "every compiler for this kind of CPU takes it";
  const auto toolchain = cli::find_toolchain(*GetParam(), reporter_);
  ASSERT_TRUE(toolchain);
  std::vector<std::string> command = {toolchain->compiler, "-std=c++17", "-fsyntax-only"};
  for (const std::string& flag : toolchain->flags) {
    if (flag.starts_with("--target=")) command.push_back(flag);  // a CPU may have what is needed
  }
  for (const char* folder : {"/runtime", "/templates/isa/shared"}) {
    command.push_back(cat("-I", source_dir(), folder));
  }
  const std::string isa = folder_of_target(GetParam()->name);
  command.push_back(cat(source_dir(), "/templates/isa/", isa, "/vocab.h"));
  const auto result = cli::run_process(command, std::chrono::minutes(1), folder_->path());
  EXPECT_FALSE(result.succeeded());
  for (const std::string& flag : needed) {
    EXPECT_NE(result.errors.find(flag), std::string::npos) << result.errors;
  }
}

// Another CPU of the same kind, without the instructions: that ends at once, and says so.
TEST_P(CrossVocabulary, EndsWithAnIllegalInstructionOnALesserCpu) {
  if (target_flags(GetParam()->name).empty() || GetParam()->name.find("aarch64") != 0) {
    GTEST_SKIP() << "every CPU of this kind runs it";
  }
  const std::optional<fs::path> program = build({});
  ASSERT_TRUE(program);
  const std::unique_ptr<Data> data = vocab_check::random_data(*GetParam(), 1);
  write("input", std::string(reinterpret_cast<const char*>(data.get()), sizeof(Data)));
  const auto result =
      cli::run_process({"qemu-aarch64", "-cpu", "cortex-a53", program->string(), "input", "output"},
                       std::chrono::minutes(1), folder_->path());
  EXPECT_EQ(result.end, cli::ProcessResult::End::kSignal);
  EXPECT_EQ(result.signal, SIGILL) << cli::describe(result);
}

INSTANTIATE_TEST_SUITE_P(Isa, CrossVocabulary, testing::ValuesIn(vocabularies()),
                         [](const auto& tested) { return folder_of_target(tested.param->name); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CrossVocabulary);

}  // namespace
}  // namespace etch
