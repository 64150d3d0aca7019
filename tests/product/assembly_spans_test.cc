// Functions in assembly stay inside the bytes that their calls state to Audit. Each is assembled
// for a Linux on Arm, called there with memory of exactly those bytes, once against the end and
// once against the beginning of a page without access, and run by qemu-arm: an access elsewhere
// ends the program. Helium is missing: qemu-arm runs no program of a Cortex-M55.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/host/process.h"
#include "compiler/host/work_folder.h"
#include "compiler/stage/audit.h"
#include "tests/support/engines.h"
#include "tests/support/residual_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

constexpr char kCompiler[] = "arm-linux-gnueabihf-g++";
constexpr char kEmulator[] = "qemu-arm";

// What the calls are made of.
constexpr std::string_view kHarness = R"(
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <initializer_list>

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
  return cat("    ", function.name, "(", arguments, ");\n");
}

std::string source_of(const Functions& functions, int missing) {
  std::string calls;
  for (const AssemblyUse& use : functions.uses)
    calls += call_of(functions.by_name.at(use.function), use, missing);
  return cat("#if !defined(__ARM_FEATURE_DSP) || !defined(__thumb2__) || !defined(__ARM_FP)\n",
             "#error \"the functions would not be in assembly\"\n#endif\n", kHarness,
             assembly_declarations(functions.all), assembly_definitions(functions.all).text,
             "int main() {\n  for (const bool end : {true, false}) {\n    at_end = end;\n", calls,
             "  }\n}\n");
}

class AssemblySpans : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const char* program : {kCompiler, kEmulator}) {
      if (cli::find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
    }
    cli::Reporter reporter(cli::Verbosity::kQuiet);
    folder_ = cli::WorkFolder::make({}, reporter);
    ASSERT_NE(folder_, nullptr);
  }

  cli::ProcessResult run(const std::string& source) const {
    const std::string file = (folder_->path() / "main.cc").string();
    const std::string program = (folder_->path() / "main").string();
    std::ofstream(file) << source;
    const auto built =
        cli::run_process({kCompiler, "-std=c++17", "-O1", "-static", "-mthumb", "-mcpu=cortex-a7",
                          "-mfpu=neon-vfpv4", file, "-o", program},
                         std::chrono::minutes(5));
    EXPECT_TRUE(built.succeeded()) << built.errors.substr(0, 3000);
    return cli::run_process({kEmulator, program}, std::chrono::minutes(5));
  }

  std::unique_ptr<cli::WorkFolder> folder_;
};

TEST_P(AssemblySpans, HoldAllThatTheInstructionsTouch) {
  const Functions functions = functions_for(*find_target(GetParam()));
  EXPECT_GT(functions.uses.size(), 20U);
  const cli::ProcessResult result = run(source_of(functions, 0));
  EXPECT_TRUE(result.succeeded()) << cli::describe(result) << result.errors;
}

// The guards work, and the functions touch the last bytes that their calls state.
TEST_P(AssemblySpans, AreNotWiderThanNeeded) {
  Functions functions = functions_for(*find_target(GetParam()));
  ASSERT_FALSE(functions.uses.empty());
  functions.uses.resize(1);
  EXPECT_FALSE(run(source_of(functions, 4)).succeeded());
}

INSTANTIATE_TEST_SUITE_P(Targets, AssemblySpans,
                         testing::ValuesIn(one_for_each_assembly_but(
                             {{"cortex-m55", "no process of Linux has Helium"}})),
                         name_of_target);

}  // namespace
}  // namespace etch
