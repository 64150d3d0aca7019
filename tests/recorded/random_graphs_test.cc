// Random quantized networks of 5 to 40 nodes against ONNX Runtime's results, which
// tools/random_graphs.py recorded: QDQ, QOperator and dynamic quantization, natively and as
// compiled code. ETCH_RANDOM_GRAPHS names another folder of such recordings (tools/random-graphs).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/part.h"
#include "tests/support/paths.h"
#include "tests/support/recorded_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

std::vector<RecordedCase> networks() {
  const char* const elsewhere = std::getenv("ETCH_RANDOM_GRAPHS");
  return read_recorded_cases(elsewhere != nullptr ? std::filesystem::path(elsewhere)
                                                  : std::filesystem::path(source_dir()) /
                                                        "tests/data/random_graphs");
}

class RandomGraphsOn : public testing::TestWithParam<const char*> {
 protected:
  const IsaTraits& isa() const { return *find_target(GetParam()); }
  // Of our own recordings one third without vectors, one with those of 8 lanes, and one with those
  // of 16. A folder of others, or with ETCH_SWEEP, is compiled whole for all.
  std::vector<RecordedCase> networks_to_compile() const {
    std::vector<RecordedCase> all = networks();
    if (std::getenv("ETCH_RANDOM_GRAPHS") != nullptr || std::getenv("ETCH_SWEEP") != nullptr)
      return all;
    const std::size_t first = isa().lanes >= 16 ? 1 : isa().lanes >= 8 ? 2 : 0;
    std::vector<std::string> names;
    for (std::size_t i = first; i < all.size(); i += 3) names.push_back(all[i].model.name);
    std::vector<RecordedCase> some;
    for (const std::size_t i : numbers_in_part(names))
      some.push_back(std::move(all[first + 3 * i]));
    return some;
  }
};

TEST_P(RandomGraphsOn, EqualOnnxRuntimeNatively) {
  for (const RecordedCase& each : networks()) {
    const auto program = compiled(each.model, GetParam());
    if (program == nullptr) continue;  // reported
    EXPECT_EQ(difference_of(native_outputs(*program, each.model.inputs), each.outputs), "")
        << each.model.name;
  }
}

TEST_P(RandomGraphsOn, EqualOnnxRuntimeAsCompiledCode) {
  const std::string obstacle = why_not_here(isa());
  if (!obstacle.empty()) GTEST_SKIP() << GetParam() << ": " << obstacle;
  const std::vector<RecordedCase> all = networks_to_compile();
  constexpr std::size_t kAtOnce = 100;  // programs in one binary
  for (std::size_t first = 0; first < all.size(); first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, all.size() - first);
    std::vector<std::unique_ptr<Program>> programs;
    std::vector<BatchEntry> entries;
    for (std::size_t i = first; i < first + count; ++i) {
      programs.push_back(compiled(all[i].model, GetParam()));
      ASSERT_NE(programs.back(), nullptr);
      entries.push_back({programs.back().get(), &all[i].model.inputs});
    }
    const auto outputs = run_generated(entries, isa());
    ASSERT_TRUE(outputs);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(difference_of((*outputs)[i], all[first + i].outputs), "")
          << all[first + i].model.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomGraphsOn,
                         testing::ValuesIn(all_targets_but(
                             {{"sse41", "the kernels and products of avx2, in other tests"}})),
                         name_of_target);

}  // namespace
}  // namespace etch
