// Targets that are other machines: code for each is built with its cross compiler, runs in its
// emulator and computes what the references do. Skipped, with the packages that would help, where
// these are missing (tools/setup --cross installs them).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/emit.h"
#include "compiler/host/elf_file.h"
#include "compiler/host/network.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/import/file.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/channel_cases.h"
#include "tests/support/engines.h"
#include "tests/support/float_cases.h"
#include "tests/support/function_cases.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/move_cases.h"
#include "tests/support/part.h"
#include "tests/support/paths.h"
#include "tests/support/residual_cases.h"
#include "tests/support/row_cases.h"
#include "tests/support/select_cases.h"
#include "tests/support/table_cases.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

using cli::Network;
using cli::ProcessResult;
using cli::Reporter;
using cli::Timing;
using cli::Verbosity;

const fs::path kDigits = source_dir() + "/examples/digits/model.onnx";

Case digits() { return case_of_file(kDigits); }

// A network of several layers, and single nodes with integer and float results.
std::vector<Case> cases() {
  std::vector<Case> out = {digits()};
  std::vector<Case> others = other_operators(1);
  out.push_back(std::move(others[0]));  // products of matrices
  out.push_back(std::move(others[5]));  // softmax
  out.push_back(std::move(small_networks(1).front()));
  return out;
}

const IsaTraits& isa_of(const char* name) { return *find_target(name); }

class CrossTarget : public testing::TestWithParam<::etch::CrossTarget> {
 protected:
  void SetUp() override {
    const std::string missing = cli::status_of(isa()).missing;
    if (!missing.empty()) GTEST_SKIP() << isa().name << ": " << missing;
  }
  static const IsaTraits& isa() { return *GetParam().isa; }
};

// Targets with the instructions and the emulator of another one, or without its FPU: that their
// code is built and runs is what can be wrong.
bool is_like_another(const IsaTraits& isa) {
  // Targets: the reason is above.
  const std::set<std::string_view> names = {"cortex-m33-nofp", "cortex-r5"};
  return names.contains(isa.name);
}

bool does_every_kind_of_step(const ::etch::CrossTarget& target);

// One network is built as users build it; the others are also in the batches of
// DoesEveryKindOfStep.
TEST_P(CrossTarget, ComputesWhatTheReferencesDoInItsEmulator) {
  std::vector<Case> all = cases();
  if (is_like_another(isa()) || does_every_kind_of_step(GetParam()))
    all.erase(all.begin() + 1, all.end());
  for (const Case& each : all) {
    std::unique_ptr<Program> program = compiled(each, isa().name, RequantizeMode::kAuto);
    ASSERT_NE(program, nullptr);
    Reporter reporter(Verbosity::kQuiet);
    const auto network = Network::build(std::move(program), Timing::kNone, {}, reporter);
    ASSERT_NE(network, nullptr) << each.name;
    network->limit_time(120);
    const auto outputs = network->run({each.inputs}, reporter);
    ASSERT_TRUE(outputs) << each.name;
    EXPECT_EQ(difference_of(outputs->front(), reference_outputs(each)), "") << each.name;
  }
}

// With ETCH_SWEEP, many more cases, and on every target that has the memory for all in one image.
bool sweeping() { return std::getenv("ETCH_SWEEP") != nullptr; }
bool sweeps(const ::etch::CrossTarget& target) {
  const bool small = target.machine->kind == Machine::Kind::kFirmware &&
                     target.machine->rom.bytes < (std::uint64_t{1} << 20);
  return sweeping() && !small;
}

// One or a few of every kind of step.
std::vector<Case> every_kind_of_step() {
  const int n = sweeping() ? 12 : 1;
  std::vector<Case> all;
  add_cases(all, small_plane_convolutions(1600 / n));
  add_cases(all, small_transposed_convolutions(2 * n));
  add_cases(all, integer_convolutions(2 * n));
  add_cases(all, run_time_convolutions(n));
  add_cases(all, scaled_convolutions());
  add_cases(all, larger_convolutions(3 * n));
  add_cases(all, pixels_far_apart());
  add_cases(all, residual_convolutions(3 * n));
  add_cases(all, other_operators(n));
  add_cases(all, small_networks(n));
  add_cases(all, float_matrices(n));
  add_cases(all, fused(float_matrices(2 * n)));
  add_cases(all, fused(float_edges(4 * n)));
  return all;
}

// What the runtime does, which is the same for every vocabulary, but not for every compiler and
// FPU.
std::vector<Case> every_function_of_the_runtime() {
  const int n = sweeping() ? 5 : 1;
  std::vector<Case> all;
  add_cases(all, longer_choices());
  add_cases(all, function_cases(12 * n));
  add_cases(all, power_cases(2 * n));
  add_cases(all, variadic_cases(3 * n));
  add_cases(all, move_cases(n));
  add_cases(all, resize_cases(3 * n));
  add_cases(all, antialias_cases(3 * n));
  add_cases(all, select_cases(n));
  add_cases(all, activation_tables(2 * n));
  add_cases(all, arithmetic_cases(6 * n));
  add_cases(all, cast_cases(6 * n));
  add_cases(all, float_window_cases(4 * n));
  add_cases(all, quantization_cases(4 * n));
  add_cases(all, normalized_rows(3 * n));
  return all;
}

// Machines make different NaNs, and all count as the same.
std::vector<Tensor> with_one_nan(std::vector<Tensor> tensors) {
  for (Tensor& tensor : tensors) {
    if (tensor.dtype() != DType::kF32) continue;
    for (float& value : tensor.as<float>()) {
      if (std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return tensors;
}

void expect_agreement(const std::vector<Case>& all, const IsaTraits& isa) {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : all) {
    // Every third without floats, everywhere.
    const bool integer = programs.size() % 3 == 2;
    programs.push_back(
        compiled(each, isa.name, integer ? RequantizeMode::kInteger : RequantizeMode::kAuto));
    ASSERT_NE(programs.back(), nullptr) << each.name;
    EXPECT_EQ(difference_of(native_outputs(*programs.back(), each.inputs), reference_outputs(each)),
              "")
        << each.name;
    entries.push_back({programs.back().get(), &each.inputs});
  }
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(difference_of(with_one_nan((*outputs)[i]), with_one_nan(reference_outputs(all[i]))),
              "")
        << all[i].name;
  }
}

// What verbs and assembly of its own can get wrong.
class CrossTargetWithVerbs : public CrossTarget {};

TEST_P(CrossTargetWithVerbs, DoesEveryKindOfStep) {
  expect_agreement(part_of(every_kind_of_step()), isa());
}

// The runtime where it differs most from this machine: floats in software and int32_t that is a
// long; big-endian; 32 bits with a C library of its own; vectors that flush subnormal floats.
class CrossTargetRuntime : public CrossTarget {};

TEST_P(CrossTargetRuntime, DoesEverythingElse) {
  expect_agreement(part_of(every_function_of_the_runtime()), isa());
}

// Compiles the sources of a generated folder one by one, with all warnings as errors.
void expect_clean_sources(const std::vector<OutputFile>& files, const fs::path& folder,
                          const cli::Toolchain& toolchain) {
  for (const OutputFile& file : files) {
    if (fs::path(file.path).extension() != ".cc") continue;
    std::vector<std::string> command = {toolchain.compiler, "-std=c++17", "-O2"};
    command.insert(command.end(), toolchain.flags.begin(), toolchain.flags.end());
    command.insert(command.end(),
                   {"-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion",
                    "-Wshadow", "-Werror", "-c", file.path, "-o", file.path + ".o"});
    const ProcessResult result = cli::run_process(command, std::chrono::minutes(2), folder);
    EXPECT_TRUE(result.succeeded()) << file.path << ": " << result.errors;
  }
}

TEST_P(CrossTarget, CompilesWithoutWarnings) {
  Reporter reporter(Verbosity::kQuiet);
  const auto folder = cli::WorkFolder::make({}, reporter);
  const std::unique_ptr<Program> program = compiled(digits(), isa().name, RequantizeMode::kAuto);
  const auto toolchain = cli::find_toolchain(isa(), reporter);
  ASSERT_TRUE(folder != nullptr && program != nullptr && toolchain);
  const std::vector<OutputFile> files = emit(*program, {});
  ASSERT_TRUE(cli::write_files(files, folder->path(), reporter));
  expect_clean_sources(files, folder->path(), *toolchain);
}

INSTANTIATE_TEST_SUITE_P(Targets, CrossTarget,
                         testing::ValuesIn(cross_targets().begin(), cross_targets().end()),
                         [](const auto& each) { return folder_of_target(each.param.isa->name); });

// Cortex-M7 and M33 have the assembly of Cortex-M4.
bool does_every_kind_of_step(const ::etch::CrossTarget& target) {
  const std::string_view name = target.isa->name;
  return target.isa->verbs() == folder_of_target(name) || name == "cortex-m0" ||
         name == "cortex-m3" || name == "cortex-m4" || sweeps(target);
}

std::vector<::etch::CrossTarget> targets_with_verbs() {
  std::vector<::etch::CrossTarget> out;
  for (const ::etch::CrossTarget& target : cross_targets())
    if (does_every_kind_of_step(target)) out.push_back(target);
  return out;
}

std::vector<::etch::CrossTarget> odd_targets() {
  std::vector<::etch::CrossTarget> out;
  for (const ::etch::CrossTarget& target : cross_targets()) {
    const std::string_view name = target.isa->name;
    const bool odd = name == "cortex-m3" || name == "riscv32imac" || name == "s390x" ||
                     name == "wasm32-simd128" || name == "armv7-neon" || name == "aarch64" ||
                     name == "riscv64-rvv";
    if (odd || sweeps(target)) out.push_back(target);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Targets, CrossTargetWithVerbs, testing::ValuesIn(targets_with_verbs()),
                         [](const auto& each) { return folder_of_target(each.param.isa->name); });

INSTANTIATE_TEST_SUITE_P(Targets, CrossTargetRuntime, testing::ValuesIn(odd_targets()),
                         [](const auto& each) { return folder_of_target(each.param.isa->name); });

// ---- what all have in common ----

TEST(CrossTargets, AreNeverNative) {
  for (const ::etch::CrossTarget& target : cross_targets()) {
    EXPECT_NE(find_target("native"), target.isa);
    EXPECT_EQ(find_target(target.isa->name), target.isa);
    EXPECT_EQ(machine_of(target.isa->name), target.machine);
  }
  EXPECT_EQ(machine_of("scalar"), nullptr);
}

TEST(CrossTargets, WithoutAnFpuRequantizeWithIntegersAndWarnOfFloats) {
  for (const ::etch::CrossTarget& target : cross_targets()) {
    EXPECT_EQ(target.isa->fpu, target.isa->float_requantization) << target.isa->name;
  }
  Sink sink;
  CompileOptions options;
  options.target = "cortex-m0";
  const Case each = digits();  // takes and gives floats
  EXPECT_NE(compile(each.model, options, sink), nullptr);
  int warnings = 0;
  for (const Diagnostic& said : sink.sorted()) {
    if (said.message.find("cortex-m0 has no FPU, and ") != 0) continue;
    ++warnings;
    EXPECT_EQ(said.severity, Severity::kWarning);
    EXPECT_NE(said.message.find("computed with floats in software (exact, but slow): node"),
              std::string::npos)
        << said.message;
  }
  EXPECT_EQ(warnings, 1);
}

// A function of libgcc that computes with floats.
bool is_soft_float(std::string_view name) {
  for (const char* start :
       {"__aeabi_f", "__aeabi_d", "__aeabi_i2f", "__aeabi_ui2f", "__aeabi_l2f"}) {
    if (name.starts_with(start)) return true;
  }
  return name.ends_with("sf3") || name.ends_with("sf2") || name.ends_with("df3") ||
         name.ends_with("sisf") || name.ends_with("sfsi");
}

// What --strict-integer promises, seen by the linker.
TEST(CrossTargets, StrictIntegerLeavesNoFloatsForTheLinker) {
  const std::string missing = cli::status_of(isa_of("cortex-m0")).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  Sink sink;
  CompileOptions options;
  options.target = "cortex-m0";
  options.strict_integer = true;
  std::unique_ptr<Program> program;
  for (const Case& each : small_plane_convolutions(2000)) {
    Sink own;
    if (program == nullptr) program = compile(each.model, options, own);
  }
  ASSERT_NE(program, nullptr);
  Reporter reporter(Verbosity::kQuiet);
  const auto network = Network::build(std::move(program), Timing::kNone, {}, reporter);
  ASSERT_NE(network, nullptr);
  int undefined = 0;
  for (const fs::path& object : network->objects()) {
    const auto bytes = read_file(object.string(), 1 << 24, "", sink);
    for (const cli::ElfSymbol& symbol : cli::read_elf(bytes.value_or("")).symbols) {
      if (symbol.is_defined || symbol.name.empty()) continue;
      ++undefined;
      EXPECT_FALSE(is_soft_float(symbol.name)) << object << " " << symbol.name;
    }
  }
  EXPECT_GT(undefined, 0);
}

// ---- counting instructions ----

nlohmann::json counted(const std::string& target) {
  const ProcessResult result =
      cli::run_process({etch_binary(), "bench", kDigits.string(), "--target", target, "--json"},
                       std::chrono::minutes(5));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return nlohmann::json::parse(result.output, nullptr, false);
}

TEST(CrossTargets, BenchCountsTheInstructionsOfEveryLayer) {
  // Targets: firmware and programs, of either byte order, each in an emulator of its own.
  for (const char* target : {"cortex-m4", "riscv32imac", "aarch64", "s390x"}) {
    const std::string missing = cli::status_of(isa_of(target)).missing;
    if (!missing.empty()) GTEST_SKIP() << target << ": " << missing;
    const nlohmann::json report = counted(target);
    ASSERT_TRUE(report.is_object()) << target;
    EXPECT_FALSE(report.contains("median_us"));
    EXPECT_GT(report["code_bytes"].get<std::int64_t>(), 0) << target;
    std::int64_t sum = 0;
    for (const auto& layer : report["layers"]) {
      const auto instructions = layer["instructions"].get<std::int64_t>();
      const auto macs = layer["macs"].get<std::int64_t>();
      EXPECT_GE(8 * instructions, macs) << layer["name"];  // 16 MACs in each would be too many
      EXPECT_GT(layer["code_bytes"].get<std::int64_t>(), 0) << target << " " << layer["name"];
      sum += instructions;
    }
    // run() calls one step after the other and does little else.
    const auto whole = report["instructions"].get<std::int64_t>();
    const auto steps = static_cast<std::int64_t>(report["layers"].size());
    EXPECT_LE(std::abs(whole - sum), 40 * steps) << target << ": " << whole << " and " << sum;
  }
}

TEST(CrossTargets, CountsAreTheSameEveryTime) {
  const std::string missing = cli::status_of(isa_of("cortex-m4")).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  EXPECT_EQ(counted("cortex-m4"), counted("cortex-m4"));
}

// ---- what goes wrong ----

class CrossTargetFailures : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "etch-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = std::getenv("PATH");
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  // A program that is found before all others.
  void replace(const std::string& name, const std::string& script) {
    const fs::path file = folder_ / name;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(file, fs::perms::owner_all);
    setenv("PATH", cat(folder_.string(), ":", path_).c_str(), 1);
  }
  static ProcessResult etch(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), etch_binary());
    return cli::run_process(arguments, std::chrono::minutes(5));
  }
  static bool is_there(const char* target) {
    return cli::status_of(isa_of(target)).missing.empty();
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(CrossTargetFailures, AMissingCompilerIsNamedWithItsPackages) {
  setenv("PATH", folder_.c_str(), 1);
  const ProcessResult result = etch({"check", kDigits.string(), "--target", "cortex-m4"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(
      result.errors.find("target cortex-m4: error[E-IO]: arm-none-eabi-gcc is needed (Debian: "
                         "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi)"),
      std::string::npos)
      << result.errors;
  const ProcessResult list = etch({"targets"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.output.find("cannot be built here: clang++-19 is needed (Debian: apt-get install "
                             "clang-19 lld-19 wasi-libc"),
            std::string::npos)
      << list.output;
}

TEST_F(CrossTargetFailures, AMissingEmulatorIsNamedWithItsPackage) {
  replace("arm-none-eabi-gcc", "exit 1");
  setenv("PATH", folder_.c_str(), 1);
  const ProcessResult result = etch({"check", kDigits.string(), "--target", "cortex-m4"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("qemu-system-arm is needed (Debian: apt-get install "
                               "qemu-system-arm)"),
            std::string::npos)
      << result.errors;
}

TEST_F(CrossTargetFailures, AnIncompleteCompilerIsNoDefectOfEtch) {
  if (!is_there("cortex-m4")) GTEST_SKIP() << "no cross compiler";
  replace("arm-none-eabi-gcc",
          "echo 'x.h:1: fatal error: string.h: No such file or directory' >&2; exit 1");
  const ProcessResult result = etch({"check", kDigits.string(), "--target", "cortex-m4"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("are all packages here? Debian: apt-get install gcc-arm-none-eabi"),
            std::string::npos)
      << result.errors;
}

// The harness is made to give the network an input at an address that is no multiple of 4, as only
// wrong code could: the emulated CPU faults as silicon does.
TEST_F(CrossTargetFailures, AnUnalignedAccessIsReportedAsADefect) {
  if (!is_there("cortex-m0")) GTEST_SKIP() << "no cross compiler";
  const std::string compiler = cli::find_program("arm-none-eabi-gcc").string();
  replace("arm-none-eabi-gcc",
          cat("for file; do case $file in */main.cc)\n  grep -q 'kInputs.*{256U*, 4U*}' $file && ",
              "sed -i '/kInputs/s/{256\\(U*\\), 4/{256\\1, 2/' $file;; esac; done\nexec ", compiler,
              " \"$@\""));
  const ProcessResult result = etch({"check", kDigits.string(), "--target", "cortex-m0"});
  EXPECT_EQ(result.exit_code, 70) << result.output << result.errors;
  EXPECT_NE(result.errors.find("the generated program failed in qemu-system-arm: fault at 0x0000"),
            std::string::npos)
      << result.errors;
}

TEST_F(CrossTargetFailures, AnEmulatorThatHangsIsEnded) {
  if (!is_there("cortex-m4")) GTEST_SKIP() << "no cross compiler";
  replace("qemu-system-arm", "exec sleep 600");
  const ProcessResult result =
      etch({"check", kDigits.string(), "--target", "cortex-m4", "--time-limit", "1"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("did not end in 1 s; --time-limit says how long it may take"),
            std::string::npos)
      << result.errors;
}

}  // namespace
}  // namespace etch
