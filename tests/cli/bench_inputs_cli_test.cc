// `etch bench --inputs`: how many instructions each step executes does not depend on the input,
// where docs/proof.md says so.
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/base/text.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/cli.h"
#include "tests/support/model_builder.h"

namespace etch::cli {
namespace {
using Json = nlohmann::json;

class CountedInputs : public Cli {
 protected:
  // What is missing to count here; empty: nothing.
  static std::string missing_for(const std::string& target) {
    const TargetStatus status = status_of(*find_target(target));
    if (!status.runs_here())
      return status.missing.empty() ? cat("no CPU for ", target) : status.missing;
    const ProcessResult tried = etch({"bench", kDigits, "--target", target, "--inputs", "2"});
    const bool moves = tried.errors.find("same addresses in every run") != std::string::npos;
    return moves ? tried.errors : "";
  }
  // {"name": [least, most]}
  static Json ranges(const std::string& model, const std::string& target) {
    const ProcessResult result =
        etch({"bench", model, "--target", target, "--inputs", "6", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    const Json report = Json::parse(result.output, nullptr, false);
    Json out;
    if (report.is_discarded()) return out;
    for (const Json& each : report["instructions"])
      out[each["name"].get<std::string>()] = {each["least"], each["most"]};
    return out;
  }
};

class BenchInputsHere : public CountedInputs {};
class BenchInputs : public CountedInputs, public testing::WithParamInterface<const char*> {};

TEST_P(BenchInputs, NoStepBranchesOnData) {
  const std::string target = GetParam();
  const std::string missing = missing_for(target);
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Json all = ranges(kDigits, target);
  EXPECT_GT(all.size(), 8U);
  for (const auto& [name, range] : all.items()) {
    EXPECT_GT(range[1].get<std::int64_t>(), 0) << name;
    const bool has_quantize = name == "n4_quantize" || name == "network";
    if (target == "cortex-m4" && has_quantize) continue;  // docs/proof.md
    EXPECT_EQ(range[0], range[1]) << name;
  }
}

// Targets: one of each way to count, and of each kind of code: vectors here, in the emulator of
// this and of another machine, DSP.
INSTANTIATE_TEST_SUITE_P(Targets, BenchInputs,
                         testing::Values("avx512_vnni", "avx2", "cortex-m4", "cortex-m55",
                                         "aarch64"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// So that a difference would be seen: Cortex-M0 has no FPU, and its division of floats branches.
TEST_F(BenchInputsHere, BranchesOnDataAreSeen) {
  const std::string missing = missing_for("cortex-m0");
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Json range = ranges(kDigits, "cortex-m0")["n4_quantize"];
  EXPECT_LT(range[0].get<std::int64_t>(), range[1].get<std::int64_t>());
}

// As one that is linked statically is built.
TEST_F(BenchInputsHere, AreSteppedThroughWhereTheEmulatorLoadsNoPlugins) {
  ModelBuilder model;
  model.input("x", DType::kF32, {std::int64_t{2}}).node("Neg", {"x"}, {"y"}).output("y");
  write("model.onnx", model.bytes());
  const std::filesystem::path emulator =
      write("qemu-x86_64",
            "#!/bin/sh\n[ \"$1\" = -h ] && exit 0\necho \"unknown option 'plugin'\" >&2\nexit 1\n");
  std::filesystem::permissions(emulator, std::filesystem::perms::owner_all);
  const std::string programs = getenv("PATH");
  setenv("PATH", cat(folder_.string(), ":", programs).c_str(), 1);
  const ProcessResult result =
      etch({"bench", path("model.onnx"), "--target", "scalar", "--inputs", "2"});
  setenv("PATH", programs.c_str(), 1);
  if (result.errors.find("same addresses in every run") != std::string::npos)
    GTEST_SKIP() << result.errors;
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("2 inputs: the same number of instructions"), std::string::npos)
      << result.output;
}

TEST_F(BenchInputsHere, NeedOneTarget) {
  const ProcessResult result =
      etch({"bench", kDigits, "--target", "x86-64-multi", "--inputs", "2"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("--inputs needs one target"), std::string::npos) << result.errors;
}

TEST_F(BenchInputsHere, OfSeveralInstructionSetsEachIsCountedByItself) {
  const ProcessResult result = etch({"bench", kDigits, "--target", "aarch64-multi"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("--target one of aarch64-i8mm, aarch64-dotprod, aarch64"),
            std::string::npos)
      << result.errors;
}

}  // namespace
}  // namespace etch::cli
