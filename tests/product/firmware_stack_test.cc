// What images of firmware hold and how much stack their code uses, on every firmware target:
// nothing of a library, and no more stack than the bound that is told. Networks beside the project
// in ../shared/models take part if they are there.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/elf_file.h"
#include "compiler/host/network.h"
#include "compiler/host/stack_use.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {
namespace fs = std::filesystem;

using cli::Network;
using cli::Reporter;
using cli::Timing;
using cli::Verbosity;

const fs::path kShared = fs::path(source_dir()) / "../shared/models/nets";

// Its functions have more arguments than registers hold.
Case product_of_floats() {
  ModelBuilder model;
  model.input("x", DType::kF32, {4, 16})
      .initializer("w", f32({16, 16}, std::vector<float>(256, 2)));
  model.node("MatMul", {"x", "w"}, {"y"}).output("y");
  return {"product_of_floats", model.bytes(), {f32({4, 16}, std::vector<float>(64, 1))}};
}

Case windows_of_floats() {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 4, 6, 6})
      .initializer("w", f32({8, 4, 3, 3}, std::vector<float>(288, 2)));
  model.node("Conv", {"x", "w"}, {"y"}).output("y");
  return {"windows_of_floats", model.bytes(), {f32({1, 4, 6, 6}, std::vector<float>(144, 1))}};
}

std::vector<Case> networks_here() {
  std::vector<Case> out = {case_of_file(source_dir() + "/examples/digits/model.onnx"),
                           product_of_floats(), windows_of_floats()};
  for (const char* name : {"mlperftiny_ic_resnet8_qdq", "mlperftiny_kws_dscnn_qdq"}) {
    const fs::path model = kShared / name / "model.onnx";
    if (fs::exists(model)) out.push_back(case_of_file(model));
  }
  return out;
}

class FirmwareTarget : public testing::TestWithParam<::etch::CrossTarget> {
 protected:
  void SetUp() override {
    const std::string missing = cli::status_of(*GetParam().isa).missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
};

// Nothing but the network's own functions, and what compilers call for arithmetic.
void expect_only_arithmetic(const std::vector<fs::path>& objects) {
  std::set<std::string> own;
  std::set<std::string> needed;
  int networks = 0;
  for (const fs::path& object : objects) {
    if (object.filename().string().find("network") != 0) continue;
    ++networks;
    const std::string bytes = contents_of(object);
    const cli::ElfFile elf = cli::read_elf(bytes);
    for (const cli::ElfSymbol& symbol : elf.symbols) {
      if (symbol.name.empty()) continue;
      (symbol.is_defined ? own : needed).emplace(symbol.name);
    }
    for (const cli::ElfSection& section : elf.sections) {
      constexpr std::uint64_t kWritten = 3;  // SHF_WRITE and SHF_ALLOC
      EXPECT_FALSE((section.flags & kWritten) == kWritten && section.size > 0)
          << object << " has " << section.size << " bytes of variables";
    }
  }
  EXPECT_GT(networks, 1);
  for (const std::string& symbol : needed) {
    EXPECT_TRUE(own.count(symbol) == 1 || cli::is_library_function(symbol)) << symbol;
  }
}

// The whole image, with the harness around the network.
void expect_no_library(const fs::path& image) {
  constexpr std::string_view kForbidden[] = {
      "malloc", "free",   "calloc", "realloc", "_sbrk",  "abort",  "exit",      "__cxa_", "_Unwind",
      "_Zn",    "_Zd",    "__gxx",  "expf",    "exp",    "logf",   "powf",      "sinf",   "tanhf",
      "roundf", "lrintf", "sqrtf",  "rintf",   "floorf", "printf", "_malloc_r", "__errno"};
  const std::string bytes = contents_of(image);
  int functions = 0;
  for (const cli::ElfSymbol& symbol : cli::read_elf(bytes).symbols) {
    if (!symbol.is_function) continue;
    ++functions;
    for (const std::string_view name : kForbidden) {
      const bool prefix = name.starts_with("_");
      EXPECT_FALSE(prefix ? symbol.name.starts_with(name) : symbol.name == name) << symbol.name;
    }
  }
  EXPECT_GT(functions, 3);
}

TEST_P(FirmwareTarget, HoldsNothingOfALibraryAndKeepsToItsStack) {
  for (const Case& each : networks_here()) {
    SCOPED_TRACE(each.name);
    Reporter reporter(Verbosity::kQuiet);
    testing::internal::CaptureStderr();
    const auto network = Network::build(compiled(each, GetParam().isa->name, RequantizeMode::kAuto),
                                        Timing::kNone, {}, reporter);
    const auto outputs = network == nullptr ? std::nullopt : network->run({each.inputs}, reporter);
    const std::string said = testing::internal::GetCapturedStderr();
    if (!outputs) {
      EXPECT_EQ(reporter.exit_code(), cli::ExitCode::kRefused) << said;  // too large for the board
      EXPECT_GT(each.model.size(), std::size_t{20000});
      continue;
    }
    expect_only_arithmetic(network->objects());
    expect_no_library(network->objects().front().parent_path() / "program");
    const std::optional<Network::Stack> stack = network->stack();
    ASSERT_TRUE(stack && stack->bound && stack->bound_of_call);
    EXPECT_GT(stack->used, 0);
    EXPECT_LE(stack->used, *stack->bound_of_call);
    EXPECT_LE(*stack->bound, *stack->bound_of_call + 8);  // the wrapper for C has a frame too
    EXPECT_LE(*stack->bound_of_call, stack->used + cli::kLibraryStack + 64) << "is far off";
    RecordProperty(each.name, cat(stack->used, " of ", *stack->bound));
  }
}

std::vector<::etch::CrossTarget> firmware_targets() {
  std::vector<::etch::CrossTarget> out;
  for (const ::etch::CrossTarget& target : cross_targets()) {
    if (target.machine->kind == Machine::Kind::kFirmware) out.push_back(target);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Targets, FirmwareTarget, testing::ValuesIn(firmware_targets()),
                         [](const auto& each) { return folder_of_target(each.param.isa->name); });

}  // namespace
}  // namespace etch
