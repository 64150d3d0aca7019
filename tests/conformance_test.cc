// QLinearConv, ConvInteger and QLinearConvTranspose against ONNX Runtime's results, recorded by
// tools/conformance.py: the reference functions, the Native stage of every instruction set's plan
// with float and with integer requantization, and compiled code (a sample; all of it with
// ETCH_SWEEP=1, see tools/agree-sweep).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/targets.h"
#include "tests/engines.h"
#include "tests/generated_batch.h"
#include "tests/recorded_cases.h"

namespace etch {
namespace {

std::vector<RecordedCase> all_cases() {
  return read_recorded_cases(std::filesystem::path(ETCH_SOURCE_DIR) / "tests/data/conformance");
}

TEST(Conformance, CoversEveryFeatureAndNamesEveryDeviationOfOnnxRuntime) {
  std::map<std::string, int> operators, deviations;
  for (const RecordedCase& each : all_cases()) {
    ++operators[each.model.name.substr(0, each.model.name.find('/'))];
    if (!each.deviation.empty()) ++deviations[each.deviation];
    const bool differs_elsewhere_only = each.deviation == "avx2-saturates";
    EXPECT_EQ(each.source == "itself", each.deviation.empty() || differs_elsewhere_only)
        << each.model.name;
  }
  EXPECT_GE(operators["QLinearConv"], 250);
  EXPECT_GE(operators["ConvInteger"], 80);
  EXPECT_GE(operators["QLinearConvTranspose"], 80);
  const std::map<std::string, int> expected{{"types", 20},      {"same-with-dilation", 12},
                                            {"same-crops", 6},  {"per-channel-zero-point", 12},
                                            {"no-kernel", 112}, {"avx2-saturates", 6}};
  EXPECT_EQ(deviations, expected);
}

TEST(Conformance, ReferenceFunctionsEqualTheRecording) {
  for (const RecordedCase& each : all_cases()) {
    EXPECT_EQ(difference_of(reference_outputs(each.model), each.outputs), "") << each.model.name;
  }
}

class ConformanceOf : public testing::TestWithParam<const IsaTraits*> {
 protected:
  void expect_native_equals(RequantizeMode requantize) {
    for (const RecordedCase& each : all_cases()) {
      const auto program = compiled(each.model, GetParam()->name, requantize);
      ASSERT_NE(program, nullptr);
      EXPECT_EQ(difference_of(native_outputs(*program, each.model.inputs), each.outputs), "")
          << each.model.name;
    }
  }
};

TEST_P(ConformanceOf, TheNativeStageWithFloatRequantization) {
  expect_native_equals(RequantizeMode::kFloat);
}
TEST_P(ConformanceOf, TheNativeStageWithIntegerRequantization) {
  expect_native_equals(RequantizeMode::kInteger);
}

TEST_P(ConformanceOf, CompiledCode) {
  const std::string obstacle = why_not_here(*GetParam());
  if (!obstacle.empty()) GTEST_SKIP() << GetParam()->name << ": " << obstacle;
  const std::size_t every = std::getenv("ETCH_SWEEP") != nullptr ? 1 : 16;
  const std::vector<RecordedCase> cases = all_cases();
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  std::vector<const RecordedCase*> taken;
  for (std::size_t i = 0; i < cases.size(); i += every) {
    const bool integer = i / every % 3 == 2;
    programs.push_back(compiled(cases[i].model, GetParam()->name,
                                integer ? RequantizeMode::kInteger : RequantizeMode::kFloat));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &cases[i].model.inputs});
    taken.push_back(&cases[i]);
  }
  const auto outputs = run_generated(entries, *GetParam());
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], taken[i]->outputs), "") << taken[i]->model.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ConformanceOf,
                         testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

}  // namespace
}  // namespace etch
