// Windows that are wholly on padding, or nearly: every legal padding compiles for every target and
// gives the bits of the references, with every objective, in bands of rows, with tuned tiles and
// with integer requantization. Layers come from a seeded generator (window_cases.h). With
// ETCH_SWEEP=1 thousands are taken; ETCH_SWEEP_FIRST and ETCH_SWEEP_COUNT say which and how many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/host/toolchain.h"
#include "compiler/kernels/conv/helium/depthwise.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/targets.h"
#include "tests/support/window_cases.h"

namespace etch {
namespace {

int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

int sample(int usual, int sweep) {
  return number_in("ETCH_SWEEP_COUNT", std::getenv("ETCH_SWEEP") != nullptr ? sweep : usual);
}

int first_layer() { return number_in("ETCH_SWEEP_FIRST", 0); }

std::vector<const IsaTraits*> every_target() {
  std::vector<const IsaTraits*> out(all_targets().begin(), all_targets().end());
  for (const CrossTarget& target : cross_targets()) out.push_back(target.isa);
  return out;
}

// Ways to compile a layer; `number` is any.
CompileOptions variation(std::string_view target, int number) {
  CompileOptions options;
  options.target = std::string(target);
  constexpr Objective kObjectives[] = {Objective::kBalanced, Objective::kSpeed, Objective::kSize,
                                       Objective::kRam};
  options.objective = kObjectives[number % 4];
  if (number % 3 == 1) options.split_rows_above = 64;  // between two convolutions: bands
  if (number % 5 == 2) options.requantize = RequantizeMode::kInteger;
  if (number % 7 == 3) options.unrolling.all = {Unrolling::Kind::kGroups, 1 + number % 3};
  if (number % 7 == 5) options.threads = 2;
  return options;
}

// Null, and the test fails, if the layer is refused. Every sixth is tuned.
std::unique_ptr<Program> compiled_variation(const Case& each, std::string_view target, int number) {
  CompileOptions options = variation(target, number);
  std::unique_ptr<Program> program = compiled(each, options);
  constexpr std::size_t kCandidates = 6;
  if (program == nullptr || number % 6 != 4) return program;
  options.tuning = candidate_tuning(*program, static_cast<std::size_t>(number), kCandidates);
  return compiled(each, options);
}

// Gives up after ten faults.
bool too_many_faults(int& faults, bool is_fault) { return is_fault && ++faults == 10; }

TEST(WidePads, CompileForEveryTarget) {
  const int count = sample(40, 3000);
  int number = first_layer(), faults = 0, programs = 0;
  for (; number < first_layer() + count; ++number) {
    const Case each = convolutions_with_wide_pads(number, 1).front();
    int way = number;  // another one for each target
    for (const IsaTraits* const isa : every_target()) {
      const bool refused = compiled_variation(each, isa->name, way++) == nullptr;
      if (too_many_faults(faults, refused)) return;
      ++programs;
    }
  }
  std::printf("%d layers, %d programs\n", count, programs);
}

void expect_native(const Case& each, const std::vector<Tensor>& expected, std::string_view target,
                   int way, int& faults) {
  const auto program = compiled_variation(each, target, way);
  const std::string difference =
      program == nullptr ? "" : difference_of(native_outputs(*program, each.inputs), expected);
  EXPECT_EQ(difference, "") << each.name << " on " << target << " in way " << way;
  if (program == nullptr || !difference.empty()) ++faults;
}

TEST(WidePads, AgreeNatively) {
  const int count = sample(40, 1000);
  int faults = 0;
  for (int number = first_layer(); number < first_layer() + count && faults < 10; ++number) {
    const Case each = convolutions_with_wide_pads(number, 1).front();
    const std::vector<Tensor> expected = reference_outputs(each);
    int way = number / 3;
    for (const IsaTraits* const isa : plans())
      expect_native(each, expected, isa->name, way++, faults);
  }
}

// Each side by itself, up to where the pad is many times the kernel and the image.
TEST(WidePads, OnOneSideAloneAgreeNatively) {
  int faults = 0;
  for (int side = 0; side < 4; ++side) {
    for (const std::int64_t pad : {1, 2, 5, 12}) {
      const Case each = padded_on_one_side(side, pad);
      const std::vector<Tensor> expected = reference_outputs(each);
      for (const IsaTraits* const isa : every_target()) {
        for (int way = 0; way < 4; ++way) expect_native(each, expected, isa->name, way, faults);
      }
    }
  }
}

using Sizes = std::vector<std::int64_t>;

// Groups of rows of the output, several to a loop, of whose taps a group of rows has padding alone.
int loops_of_padding(const Program& program) {
  int out = 0;
  for (const auto& step : program.steps) {
    const auto* const depthwise = dynamic_cast<const MveDepthwiseStep*>(step.get());
    if (depthwise == nullptr) continue;
    for (const MveDepthwiseRows& rows : depthwise->plan.rows) {
      for (const MveDepthwiseRows::Group& group : rows.groups)
        out += rows.count > 1 && group.rows.count == 0;
    }
  }
  return out;
}

// Depthwise in a plane, with weights of several seeds: Helium takes none that need more than int8.
void expect_rows_of_padding(std::int64_t channels, const Sizes& in, const Sizes& kernel,
                            const Sizes& pads, const Sizes& dilation, Objective objective) {
  int found = 0;
  for (int seed = 0; seed < 8; ++seed) {
    const Case each = depthwise_plane(channels, in, kernel, pads, dilation, seed);
    CompileOptions options;
    options.target = "cortex-m55";
    options.objective = objective;
    const auto program = compiled(each, options);
    ASSERT_NE(program, nullptr);
    found += loops_of_padding(*program);
    EXPECT_EQ(difference_of(native_outputs(*program, each.inputs), reference_outputs(each)), "")
        << each.name;
  }
  EXPECT_GT(found, 0);
}

// The place that such rows would have is after the end of x.
TEST(HeliumDepthwise, RowsOfPaddingAloneReadNothingOfX) {
  for (const Objective objective : {Objective::kBalanced, Objective::kRam}) {
    expect_rows_of_padding(16, {2, 4}, {1, 1}, {0, 0, 6, 0}, {1, 1}, objective);
    expect_rows_of_padding(16, {2, 4}, {1, 1}, {6, 0, 6, 0}, {1, 1}, objective);
    expect_rows_of_padding(20, {3, 4}, {2, 2}, {8, 0, 8, 0}, {3, 1}, objective);
  }
}

// Of seven rows of taps the first four are on padding while others are on x, and the reverse.
TEST(HeliumDepthwise, FourRowsOfTapsOnPaddingAloneReadNothingOfX) {
  expect_rows_of_padding(9, {9, 5}, {7, 3}, {12, 2, 12, 2}, {1, 1}, Objective::kBalanced);
}

class WidePadsEmulated : public testing::TestWithParam<const char*> {};

// In the emulator.
TEST_P(WidePadsEmulated, Agree) {
  const IsaTraits& isa = *find_target(GetParam());
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  const int count = sample(6, 60);
  constexpr int kTogether = 6;  // as many as the board has memory for
  for (int from = first_layer(); from < first_layer() + count; from += kTogether) {
    const std::vector<Case> cases = convolutions_with_wide_pads(from, kTogether);
    std::vector<std::unique_ptr<Program>> programs;
    std::vector<BatchEntry> entries;
    for (const Case& each : cases) {
      programs.push_back(compiled_variation(each, isa.name, 4 * static_cast<int>(entries.size())));
      ASSERT_NE(programs.back(), nullptr);
      entries.push_back({programs.back().get(), &each.inputs});
    }
    const auto outputs = run_generated(entries, isa);
    ASSERT_TRUE(outputs);
    for (std::size_t i = 0; i < cases.size(); ++i)
      EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(cases[i])), "") << cases[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, WidePadsEmulated,
                         testing::ValuesIn(one_for_each_assembly_but({})), name_of_target);

}  // namespace
}  // namespace etch
