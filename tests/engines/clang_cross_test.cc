// Code for Arm compiled by clang instead of gcc: the compilers of Apple, of Android and of Arm
// itself are clang. The same bytes, and no warnings.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/host/work_folder.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/channel_cases.h"
#include "tests/support/engines.h"
#include "tests/support/float_cases.h"
#include "tests/support/function_cases.h"
#include "tests/support/generated_batch.h"
#include "tests/support/part.h"
#include "tests/support/residual_cases.h"
#include "tests/support/row_cases.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

constexpr char kClang[] = "clang++-19";
// Of newlib, beside arm-none-eabi-gcc: clang has no string.h.
constexpr char kNewlib[] = "/usr/lib/arm-none-eabi/include";

bool sweeps_clang() { return std::getenv("ETCH_SWEEP") != nullptr; }

// What clang calls the machine of a target; empty if it is no Arm.
std::string triple_of(const CrossTarget& target) {
  const std::string_view compiler = target.machine->compiler;
  if (!compiler.starts_with("aarch64-") && !compiler.starts_with("arm-")) return {};
  return std::string(compiler.substr(0, compiler.rfind('-')));
}

class ClangForArm : public testing::TestWithParam<CrossTarget> {
 protected:
  void SetUp() override {
    if (cli::find_program(kClang).empty()) GTEST_SKIP() << kClang << " is needed";
    const std::string missing = cli::status_of(isa()).missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  static const IsaTraits& isa() { return *GetParam().isa; }
};

// A few of every kind of step, and all with ETCH_SWEEP.
std::vector<Case> clang_cases() {
  const int n = sweeps_clang() ? 12 : 1;
  std::vector<Case> all;
  add_cases(all, small_plane_convolutions(1600 / n));
  add_cases(all, integer_convolutions(n));
  add_cases(all, run_time_convolutions(n));
  add_cases(all, residual_convolutions(n));
  add_cases(all, other_operators(n));
  add_cases(all, float_matrices(n));
  add_cases(all, function_cases(4 * n));
  add_cases(all, normalized_rows(n));
  return all;
}

class RunClangForArm : public ClangForArm {};

TEST_P(RunClangForArm, GivesTheSameBytes) {
  const std::vector<Case> all = part_of(clang_cases());
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : all) {
    programs.push_back(compiled(each, isa().name, RequantizeMode::kAuto));
    ASSERT_NE(programs.back(), nullptr) << each.name;
    entries.push_back({programs.back().get(), &each.inputs});
  }
  BatchOptions options{{"--target=" + triple_of(GetParam()), "-O2"}};
  options.compiler = kClang;
  const auto outputs = run_generated(entries, isa(), options);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all[i])), "") << all[i].name;
}

TEST_P(ClangForArm, CompilesWithoutWarnings) {
  const Case each = small_networks(1).front();
  const std::unique_ptr<Program> program = compiled(each, isa().name, RequantizeMode::kAuto);
  cli::Reporter reporter(cli::Verbosity::kQuiet);
  const auto folder = cli::WorkFolder::make({}, reporter);
  ASSERT_TRUE(folder != nullptr && program != nullptr);
  const std::vector<OutputFile> files = emit(*program, {});
  ASSERT_TRUE(cli::write_files(files, folder->path(), reporter));
  std::vector<std::string> command = {kClang, "--target=" + triple_of(GetParam()), "-std=c++17",
                                      "-O2"};
  std::istringstream cpu{std::string(GetParam().machine->flags)};
  for (std::string flag; cpu >> flag;) command.push_back(flag);
  if (GetParam().machine->kind == Machine::Kind::kFirmware)
    command.insert(command.end(), {"-isystem", kNewlib});
  for (const std::string& flag : target_flags(isa().name)) command.push_back(flag);
  command.insert(command.end(), {"-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
                                 "-Wsign-conversion", "-Wshadow", "-Werror", "-c"});
  for (const OutputFile& file : files) {
    if (fs::path(file.path).extension() != ".cc") continue;
    std::vector<std::string> one = command;
    one.insert(one.end(), {file.path, "-o", file.path + ".o"});
    const auto result = cli::run_process(one, std::chrono::minutes(2), folder->path());
    EXPECT_TRUE(result.succeeded()) << file.path << ": " << result.errors;
  }
}

// All with ETCH_SWEEP, else `few`; only those that user-mode emulators run, or all.
std::vector<CrossTarget> arm_targets(bool only_linux, const std::set<std::string_view>& few) {
  std::vector<CrossTarget> out;
  for (const CrossTarget& target : cross_targets()) {
    const bool is_linux = target.machine->kind == Machine::Kind::kLinux;
    if (triple_of(target).empty() || (only_linux && !is_linux)) continue;
    if (sweeps_clang() || few.contains(target.isa->name)) out.push_back(target);
  }
  return out;
}

std::string clang_target(const testing::TestParamInfo<CrossTarget>& info) {
  return folder_of_target(info.param.isa->name);
}

// Targets: one of each vocabulary, and one of each kind of assembly that clang has to read.
INSTANTIATE_TEST_SUITE_P(Targets, ClangForArm,
                         testing::ValuesIn(arm_targets(false, {"cortex-m0", "cortex-m4",
                                                               "cortex-m55", "aarch64-i8mm"})),
                         clang_target);
// Targets: as above, of those that run.
INSTANTIATE_TEST_SUITE_P(Targets, RunClangForArm,
                         testing::ValuesIn(arm_targets(true, {"aarch64", "armv7-neon"})),
                         clang_target);

}  // namespace
}  // namespace etch
