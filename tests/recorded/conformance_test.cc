// QLinearConv, ConvInteger and QLinearConvTranspose against ONNX Runtime's results, recorded by
// tools/conformance.py: the reference functions, the Native stage of every instruction set's plan
// and compiled code, each with float and with integer requantization. Compiled code takes a sample,
// with ETCH_SWEEP=1 (tools/agree-sweep, tools/conformance-table) all of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/part.h"
#include "tests/support/paths.h"
#include "tests/support/recorded_cases.h"
#include "tests/support/results.h"

namespace etch {
namespace {

std::vector<RecordedCase> all_cases() {
  return read_recorded_cases(std::filesystem::path(source_dir()) / "tests/data/conformance");
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

TEST(Conformance, TheDocumentListsEveryFeature) {
  std::map<std::string, int> expected;
  for (const RecordedCase& each : all_cases()) ++expected[feature_of(each.model.name)];
  std::map<std::string, int> documented = documented_rows("QLinearConv");
  documented.merge(documented_rows("ConvInteger"));
  EXPECT_EQ(documented, expected) << "run tools/conformance-table";
}

TEST(Conformance, ReferenceFunctionsEqualTheRecording) {
  Tally tally("reference");
  for (const RecordedCase& each : all_cases()) {
    const std::string difference = difference_of(reference_outputs(each.model), each.outputs);
    EXPECT_EQ(difference, "") << each.model.name;
    tally.count(feature_of(each.model.name), difference.empty());
  }
}

std::string column_of(const IsaTraits& isa, const char* how, RequantizeMode requantize) {
  return cat(isa.name, " ", how, " ", requantize == RequantizeMode::kFloat ? "float" : "integer");
}

class ConformanceOf : public testing::TestWithParam<const IsaTraits*> {
 protected:
  void expect_native_equals(RequantizeMode requantize) {
    Tally tally(column_of(*GetParam(), "native", requantize));
    for (const RecordedCase& each : all_cases()) {
      const auto program = compiled(each.model, GetParam()->name, requantize);
      ASSERT_NE(program, nullptr);
      const std::string difference =
          difference_of(native_outputs(*program, each.model.inputs), each.outputs);
      EXPECT_EQ(difference, "") << each.model.name;
      tally.count(feature_of(each.model.name), difference.empty());
    }
  }

  // Every n-th case, from case number `first` on.
  void expect_compiled_equals(RequantizeMode requantize, std::size_t first) {
    const IsaTraits& isa = *GetParam();
    const std::string obstacle = why_not_here(isa);
    if (!obstacle.empty()) GTEST_SKIP() << isa.name << ": " << obstacle;
    const bool sweeping = std::getenv("ETCH_SWEEP") != nullptr;
    const std::vector<RecordedCase> cases = all_cases();
    std::vector<std::unique_ptr<Program>> programs;
    std::vector<BatchEntry> entries;
    std::vector<const RecordedCase*> taken;
    const std::size_t start = sweeping ? 0 : first, every = sweeping ? 1 : kSample;
    std::vector<std::string> names;
    for (std::size_t i = start; i < cases.size(); i += every) names.push_back(cases[i].model.name);
    for (const std::size_t i : numbers_in_part(names)) {
      const RecordedCase& each = cases[start + i * every];
      programs.push_back(compiled(each.model, isa.name, requantize));
      ASSERT_NE(programs.back(), nullptr);
      entries.push_back({programs.back().get(), &each.model.inputs});
      taken.push_back(&each);
    }
    const auto outputs = run_generated(entries, isa);
    ASSERT_TRUE(outputs);
    Tally tally(column_of(isa, "compiled", requantize));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const std::string difference = difference_of((*outputs)[i], taken[i]->outputs);
      EXPECT_EQ(difference, "") << taken[i]->model.name;
      tally.count(feature_of(taken[i]->model.name), difference.empty());
    }
  }

 private:
  static constexpr std::size_t kSample = 16;
};

TEST_P(ConformanceOf, TheNativeStageWithFloatRequantization) {
  expect_native_equals(RequantizeMode::kFloat);
}
TEST_P(ConformanceOf, TheNativeStageWithIntegerRequantization) {
  expect_native_equals(RequantizeMode::kInteger);
}
TEST_P(ConformanceOf, CompiledCodeWithFloatRequantization) {
  expect_compiled_equals(RequantizeMode::kFloat, 0);
}
TEST_P(ConformanceOf, CompiledCodeWithIntegerRequantization) {
  expect_compiled_equals(RequantizeMode::kInteger, 8);
}

INSTANTIATE_TEST_SUITE_P(Targets, ConformanceOf,
                         testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

}  // namespace
}  // namespace etch
