// Functions in assembly stay inside the bytes that their calls state to Audit. Each is assembled
// for a Linux on Arm, called there with memory of exactly those bytes, once against the end and
// once against the beginning of a page without access, and run by qemu-arm: an access elsewhere
// ends the program. Helium, of which qemu-arm runs no program, is called on an emulated board,
// whose memory protection unit lets each call touch what it states, the program and nothing else.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/code/parts.h"
#include "compiler/host/process.h"
#include "compiler/host/toolchain.h"
#include "compiler/host/work_folder.h"
#include "compiler/import/file.h"
#include "compiler/stage/audit.h"
#include "tests/support/engines.h"
#include "tests/support/paths.h"
#include "tests/support/residual_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

constexpr char kCompiler[] = "arm-linux-gnueabihf-g++";
constexpr char kEmulator[] = "qemu-arm";

// What the calls are made of: memory, and what is done first and before each call.
constexpr std::string_view kHarnessOfLinux = R"(
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace {
constexpr size_t kPage = 4096;
bool at_end = false;

// A pointer to `bytes` bytes with a page without access after them, or before them.
unsigned char* memory(size_t bytes) {
  const size_t inner = (bytes + kPage - 1) / kPage * kPage;
  void* all = mmap(nullptr, inner + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) abort();
  unsigned char* first = static_cast<unsigned char*>(all) + kPage;
  if (inner > 0 && mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) abort();
  memset(first, 37, inner);
  return at_end ? first + (inner - bytes) : first;
}
void start() {}
void before_call() {}
)";

// Regions of the memory protection unit (PMSAv8) begin and end at multiples of 32 bytes. Two hold
// the program; the others are 4 MB apart. Without a region nothing is accessible.
constexpr std::string_view kHarnessOfFirmware = R"(
#include <stddef.h>
#include <stdint.h>

#include "semihosting.h"

namespace {
constexpr uint32_t kFirst = 0x76000000, kApart = 4 << 20;
bool at_end = false;
uint32_t regions = 0;

volatile uint32_t& unit(uint32_t offset) {
  return *reinterpret_cast<volatile uint32_t*>(0xE000ED90 + offset);
}
void barrier() { __asm__ volatile("dsb\nisb" ::: "memory"); }
// [begin, end), for reads, writes and, of the program, fetches.
void allow(uint32_t begin, uint32_t end, bool runs) {
  unit(0x08) = regions++;
  unit(0x0C) = begin | 1 << 1 | (runs ? 0 : 1);
  unit(0x10) = (end - 32) | 1;
  barrier();
}
// A pointer to `bytes` bytes at the end, or at the beginning, of a region of its own.
unsigned char* memory(size_t bytes) {
  const uint32_t inner = (static_cast<uint32_t>(bytes) + 31) / 32 * 32;
  const uint32_t first = kFirst + regions * kApart;
  unsigned char* const begin = reinterpret_cast<unsigned char*>(first);
  if (inner == 0) return begin;
  if (inner >= kApart || regions >= (unit(0) >> 8 & 255)) semihosting::exit(100);
  allow(first, first + inner, false);
  for (uint32_t i = 0; i < inner; ++i) static_cast<volatile unsigned char*>(begin)[i] = 37;
  return at_end ? begin + (inner - bytes) : begin;
}
void start() {
  unit(0x30) = 0xFF;  // the kind of memory 0: cached
  allow(0x10000000, 0x10000400, true);
  allow(0x70000000, kFirst, true);
  unit(0x04) = 1;  // also off: what is accessible where there is no region
  barrier();
}
void before_call() {
  for (; regions > 2; --regions) {
    unit(0x08) = regions - 1;
    unit(0x10) = 0;
  }
  barrier();
}
)";

constexpr std::string_view kGuarded = R"(
template <class T>
T* guarded(long bytes) {
  return reinterpret_cast<T*>(memory(static_cast<size_t>(bytes)));
}
}  // namespace
)";

// The functions of many small networks, and what their calls touch.
struct Functions {
  Program all;  // whose steps have them
  std::map<std::string, AssemblyFunction> by_name;
  std::vector<AssemblyUse> uses;
};

void add(Functions& functions, Program program) {
  for (auto& step : program.steps) {
    const AuditResult result = audit(*step, program.isa, extents_of(program, *step));
    for (const AssemblyFunction& function : step->assembly)
      functions.by_name.emplace(function.name, function);
    functions.uses.insert(functions.uses.end(), result.assembly.begin(), result.assembly.end());
    if (!step->assembly.empty()) functions.all.steps.push_back(std::move(step));
  }
}

std::vector<Case> networks() {
  std::vector<Case> out = small_plane_convolutions(400);
  for (auto* more : {&larger_convolutions, &small_networks, &residual_convolutions}) {
    for (Case& each : more(3)) out.push_back(std::move(each));
  }
  return out;
}

Functions functions_for(const IsaTraits& isa) {
  Functions out;
  const std::vector<Case> cases = networks();
  for (const Objective objective : {Objective::kBalanced, Objective::kSpeed}) {
    for (const Case& each : cases) {
      CompileOptions options;
      options.target = isa.name;
      options.objective = objective;
      if (auto program = compiled(each, options)) add(out, std::move(*program));
    }
  }
  return out;
}

// Of the networks beside the project, without those that the target cannot have; empty: there are
// none.
Functions functions_of_networks(const IsaTraits& isa) {
  Functions out;
  const fs::path nets = fs::path(source_dir()) / ".." / "shared" / "models" / "nets";
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(nets, error)) {
    Sink sink;
    const auto bytes = read_model_file((each.path() / "model.onnx").string(), {}, sink);
    if (!bytes) continue;
    CompileOptions options;
    options.target = isa.name;
    if (auto program = compile(*bytes, options, sink)) add(out, std::move(*program));
  }
  return out;
}

// f(guarded<const uint8_t>(12), guarded<uint8_t>(4), 0); `missing` bytes are left out of the last
// pointer.
std::string call_of(const AssemblyFunction& function, const AssemblyUse& use, int missing) {
  std::string arguments;
  std::size_t pointer = 0;
  for (const std::string& type : function.types) {
    arguments += arguments.empty() ? "" : ", ";
    if (!type.ends_with("*")) {
      arguments += "0";
      continue;
    }
    const Span& span = use.spans.at(pointer++);
    EXPECT_EQ(span.begin, 0) << function.name;
    const std::int64_t left_out = pointer == use.spans.size() ? missing : 0;
    arguments += cat("guarded<", type.substr(0, type.size() - 1), ">(", span.end - left_out, ")");
  }
  EXPECT_EQ(pointer, use.spans.size()) << function.name;
  return cat("    before_call();\n    ", function.name, "(", arguments, ");\n");
}

constexpr std::string_view kHasAssembly =
    "#if !defined(__ARM_FEATURE_DSP) || !defined(__thumb2__) || !defined(__ARM_FP)\n"
    "#error \"the functions would not be in assembly\"\n#endif\n";

std::string source_of(const Functions& functions, int missing, bool firmware) {
  std::string calls;
  for (const AssemblyUse& use : functions.uses)
    calls += call_of(functions.by_name.at(use.function), use, missing);
  return cat(kHasAssembly, firmware ? kHarnessOfFirmware : kHarnessOfLinux, kGuarded,
             assembly_declarations(functions.all), assembly_definitions(functions.all).text,
             "int main() {\n  start();\n  for (int end = 1; end >= 0; --end) {\n"
             "    at_end = end != 0;\n",
             calls, "  }\n  return 0;\n}\n");
}

class AssemblySpans : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    cli::Reporter reporter(cli::Verbosity::kQuiet);
    if (firmware()) {
      toolchain_ = cli::find_toolchain(*find_target(GetParam()), reporter);
      if (!toolchain_) GTEST_SKIP() << "no tools for " << GetParam();
    }
    for (const char* program : {kCompiler, kEmulator}) {
      if (!firmware() && cli::find_program(program).empty())
        GTEST_SKIP() << program << " is not installed";
    }
    folder_ = cli::WorkFolder::make({}, reporter);
    ASSERT_NE(folder_, nullptr);
  }

  static bool firmware() { return std::string_view(GetParam()) == "cortex-m55"; }

  std::string in_folder(const std::string& name) const { return (folder_->path() / name).string(); }

  // What compiles main.cc, and what runs the program.
  std::vector<std::string> build_command() const {
    if (!firmware()) {
      return {kCompiler,
              "-std=c++17",
              "-O1",
              "-static",
              "-mthumb",
              "-mcpu=cortex-a7",
              "-mfpu=neon-vfpv4",
              in_folder("main.cc"),
              "-o",
              in_folder("main")};
    }
    std::vector<std::string> out = {toolchain_->compiler, "-std=c++17", "-O1"};
    out.insert(out.end(), toolchain_->flags.begin(), toolchain_->flags.end());
    for (const char* name : {"main.cc", "firmware_start.cc"}) out.push_back(in_folder(name));
    out.push_back("-L" + folder_->path().string());
    out.insert(out.end(), toolchain_->link_flags.begin(), toolchain_->link_flags.end());
    out.insert(out.end(), {"-o", in_folder("main")});
    return out;
  }

  cli::ProcessResult run(const Functions& functions, int missing) const {
    std::ofstream(in_folder("main.cc")) << source_of(functions, missing, firmware());
    if (firmware()) {
      for (const OutputFile& file : cli::machine_files(*toolchain_->machine))
        std::ofstream(in_folder(file.path)) << file.content;
    }
    const auto built = cli::run_process(build_command(), std::chrono::minutes(5));
    EXPECT_TRUE(built.succeeded()) << built.errors.substr(0, 3000);
    const std::vector<std::string> command =
        firmware() ? cli::command_to_run(*toolchain_, in_folder("main"), {}, {})
                   : std::vector<std::string>{kEmulator, in_folder("main")};
    return cli::run_process(command, std::chrono::minutes(5));
  }

  std::unique_ptr<cli::WorkFolder> folder_;
  std::optional<cli::Toolchain> toolchain_;  // of firmware
};

TEST_P(AssemblySpans, HoldAllThatTheInstructionsTouch) {
  const Functions functions = functions_for(*find_target(GetParam()));
  EXPECT_GT(functions.uses.size(), 20U);
  const cli::ProcessResult result = run(functions, 0);
  EXPECT_TRUE(result.succeeded()) << cli::describe(result) << result.errors;
}

TEST_P(AssemblySpans, HoldAllThatTheCallsOfTheSharedNetworksTouch) {
  const Functions functions = functions_of_networks(*find_target(GetParam()));
  if (functions.uses.empty()) GTEST_SKIP() << "no networks in ../shared/models/nets";
  RecordProperty("calls", static_cast<int>(functions.uses.size()));
  const cli::ProcessResult result = run(functions, 0);
  EXPECT_TRUE(result.succeeded()) << cli::describe(result) << result.errors;
}

// The guards work, and the functions touch the last bytes that their calls state.
TEST_P(AssemblySpans, AreNotWiderThanNeeded) {
  Functions functions = functions_for(*find_target(GetParam()));
  ASSERT_FALSE(functions.uses.empty());
  functions.uses.resize(1);
  EXPECT_FALSE(run(functions, 4).succeeded());
}

INSTANTIATE_TEST_SUITE_P(Targets, AssemblySpans, testing::ValuesIn(one_for_each_assembly_but({})),
                         name_of_target);
// Targets: the one with tiles of its own.
INSTANTIATE_TEST_SUITE_P(StartingTwo, AssemblySpans, testing::Values("cortex-m7"), name_of_target);

}  // namespace
}  // namespace etch
