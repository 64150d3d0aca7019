// `etch bench --cycles`: modelled cycles beside the instructions, and what is said where there are
// none.
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/base/text.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/cli.h"

namespace etch::cli {
namespace {
using Json = nlohmann::json;

class BenchCycles : public Cli {
 protected:
  void TearDown() override {
    if (!path_.empty()) setenv("PATH", path_.c_str(), 1);
    Cli::TearDown();
  }
  // What is missing to model cycles here; empty: nothing.
  static std::string missing_for(const std::string& target) {
    const TargetStatus status = status_of(*find_target(target));
    if (!status.runs_here()) return status.missing;
    return find_program("llvm-mca-19").empty() ? "llvm-mca-19 is needed" : "";
  }
  static Json bench(const std::string& target, std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", kDigits, "--target", target, "--json"});
    const ProcessResult result = etch(more);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return Json::parse(result.output, nullptr, false);
  }
  void hide_programs() {
    path_ = getenv("PATH");
    setenv("PATH", temporary().c_str(), 1);
  }

 private:
  std::string path_;
};

class BenchCyclesOf : public BenchCycles, public testing::WithParamInterface<const char*> {};

TEST_P(BenchCyclesOf, AreThereForTheNetworkAndEachLayer) {
  const std::string target = GetParam();
  const std::string missing = missing_for(target);
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Json report = bench(target, {"--cycles"});
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["instructions"], bench(target, {})["instructions"]);
  const auto instructions = report["instructions"].get<std::int64_t>();
  const auto cycles = report["modelled_cycles"].get<std::int64_t>();
  // Cores that start one instruction at a time wait at least once; none starts more than 8.
  const bool one_at_a_time = target == "cortex-m4" || target == "cortex-m33";
  EXPECT_GT(cycles, one_at_a_time ? instructions : instructions / 8);
  EXPECT_LT(cycles, 4 * instructions);
  std::int64_t of_layers = 0;
  for (const Json& layer : report["layers"]) {
    EXPECT_GT(layer["modelled_cycles"].get<std::int64_t>(), 0) << layer["name"];
    of_layers += layer["modelled_cycles"].get<std::int64_t>();
  }
  EXPECT_NEAR(static_cast<double>(of_layers), static_cast<double>(cycles),
              0.05 * static_cast<double>(cycles));
  EXPECT_LT(report["cycle_model"]["unknown_instructions"].get<std::int64_t>(), instructions / 20);
}

// Targets: one for each model of a pipeline.
INSTANTIATE_TEST_SUITE_P(Targets, BenchCyclesOf,
                         testing::Values("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55",
                                         "aarch64", "aarch64-dotprod", "riscv64"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(BenchCycles, ArePrintedWithTheirModel) {
  const std::string missing = missing_for("cortex-m4");
  if (!missing.empty()) GTEST_SKIP() << missing;
  const std::string output = etch({"bench", kDigits, "--target", "cortex-m4", "--cycles"}).output;
  EXPECT_NE(output.find("insn/MAC  cycles/MAC"), std::string::npos) << output;
  EXPECT_NE(output.find("llvm-mca's cortex-m4 for Cortex-M4"), std::string::npos) << output;
}

TEST_F(BenchCycles, NameTheTargetsThatHaveAModel) {
  // Targets: a core without a model, and this machine.
  for (const char* target : {"cortex-m0", "scalar"}) {
    const ProcessResult result = etch({"bench", kDigits, "--target", target, "--cycles"});
    EXPECT_EQ(result.exit_code, 1) << target;
    EXPECT_NE(result.errors.find(
                  cat("no model of a pipeline for ", target, "; there are models for cortex-m4")),
              std::string::npos)
        << result.errors;
  }
}

TEST_F(BenchCycles, SayWhatToInstall) {
  hide_programs();
  const ProcessResult result = etch({"bench", kDigits, "--target", "cortex-m85", "--cycles"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.errors.find("llvm-mca-19 is needed (Debian: apt-get install llvm-19)"),
            std::string::npos)
      << result.errors;
}

TEST_F(BenchCycles, AreNotThereForManyInputs) {
  const ProcessResult result =
      etch({"bench", kDigits, "--target", "cortex-m4", "--cycles", "--inputs", "2"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("--inputs counts instructions only"), std::string::npos)
      << result.errors;
}

}  // namespace
}  // namespace etch::cli
