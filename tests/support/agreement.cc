// See agreement.h.
#include "tests/support/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/part.h"
#include "tests/support/targets.h"

namespace etch {

namespace {
bool sweeping() { return std::getenv("ETCH_SWEEP") != nullptr; }

// Which half or third a case is in. Not every second or third: cases often alternate between kinds.
std::size_t half_with(std::size_t i) { return i * i / 7 % 2; }
std::size_t third_with(std::size_t i) { return (i + i / 3 + i / 9) % 3; }
}  // namespace

std::vector<Case> half_of(std::vector<Case> cases, std::size_t half) {
  if (sweeping()) return cases;
  std::vector<Case> out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (half_with(i) == half) out.push_back(std::move(cases[i]));
  }
  return out;
}

namespace {
// A compiler's time grows with the text of steps, and few networks of a list have most of it.
bool has_long_text(const Case& each, const IsaTraits& isa) {
  constexpr std::size_t kLongText = 30'000;
  const std::unique_ptr<Program> program = compiled(each, isa.name);
  if (program == nullptr) return false;
  std::size_t text = 0;
  for (const OutputFile& file : emit(*program, {}))
    text += file.path.find("_steps_") != std::string::npos ? file.content.size() : 0;
  return text > kLongText;
}
}  // namespace

std::vector<Case> thinned(std::vector<Case> cases, const IsaTraits& isa) {
  if (sweeping() || std::ranges::find(all_targets(), &isa) == all_targets().end()) return cases;
  constexpr std::string_view kWidest = "avx512_vnni";
  const bool widest = isa.name == kWidest;
  const bool widest_runs = why_not_here(*find_target(kWidest)).empty();
  const std::size_t third = isa.name == "scalar" ? 0 : isa.name == "avx2" ? 1 : 2;
  std::vector<Case> out;
  for (const std::size_t i : numbers_in_part(cases)) {
    if (!widest && third_with(i) != third) continue;
    // Independent of the thirds; both have all kinds of cases that alternate.
    const bool for_widest = i * i / 13 % 2 == 0;
    const bool elsewhere = widest_runs && for_widest != widest;
    if (!elsewhere || !has_long_text(cases[i], isa)) out.push_back(cases[i]);
  }
  // A part of few may have none of this target.
  if (out.empty() && !cases.empty()) out.push_back(cases[numbers_in_part(cases).front()]);
  return out;
}

std::vector<Case> thinned(std::vector<Case> cases, std::string_view target) {
  return thinned(std::move(cases), *find_target(target));
}

std::vector<Case> fused(std::vector<Case> cases) {
  for (Case& each : cases) {
    each.name += " fused";
    each.float_steps = FloatSteps::kFused;
  }
  return cases;
}

void expect_native_agrees(const std::vector<Case>& cases, RequantizeMode requantize) {
  constexpr std::size_t kMany = 24;
  const std::vector<const IsaTraits*> targets = plans();
  const std::size_t step = cases.size() < kMany || sweeping() ? 1 : 3;
  int failures = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& each = cases[i];
    const std::vector<Tensor> expected = reference_outputs(each);
    for (std::size_t target = third_with(i) % step; target < targets.size(); target += step) {
      const IsaTraits* const isa = targets[target];
      const auto program = compiled(each, isa->name, requantize);
      ASSERT_NE(program, nullptr);
      const std::string difference = difference_of(native_outputs(*program, each.inputs), expected);
      EXPECT_EQ(difference, "") << each.name << " on " << isa->name;
      if (!difference.empty() && ++failures == 10) return;
    }
  }
}

void expect_compiled_agrees(const std::vector<Case>& cases, std::string_view target) {
  const std::vector<Case> part = part_of(cases);
  std::vector<std::vector<Tensor>> expected;
  expected.reserve(part.size());
  for (const Case& each : part) expected.push_back(reference_outputs(each));
  expect_compiled_gives(part, expected, target);
}

void expect_compiled_gives(const std::vector<Case>& cases,
                           const std::vector<std::vector<Tensor>>& expected,
                           std::string_view target) {
  const IsaTraits& isa = *find_target(target);
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << target << ": " << obstacle;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  const std::vector<std::size_t> part = numbers_in_part(cases);
  for (const std::size_t i : part) {
    programs.push_back(compiled(cases[i], target));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &cases[i].inputs});
  }
  BatchOptions options;
  options.clean = true;
  const auto outputs = run_generated(entries, isa, options);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < part.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], expected[part[i]]), "") << cases[part[i]].name;
  }
}

void expect_clean_code(std::span<const BatchEntry> entries, const IsaTraits& isa,
                       const std::vector<std::string>& more_flags) {
  std::vector<std::string> flags = strict_flags();
  flags.insert(flags.end(), {"-std=c++17", "-O1", "-ffreestanding"});
  flags.insert(flags.end(), more_flags.begin(), more_flags.end());
  std::vector<const char*> compilers = {"clang++"};
  if (!why_not_here(isa).empty() || sweeping()) compilers.push_back("g++");
  for (const char* const compiler : compilers) {
    SCOPED_TRACE(compiler);
    const auto symbols = compile_generated(entries, isa, compiler, flags);
    ASSERT_TRUE(symbols);
    expect_clean(*symbols);
  }
}

void expect_clean_code(const std::vector<Case>& cases, std::string_view target,
                       const std::vector<std::string>& more_flags) {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const std::size_t i : numbers_in_part(cases)) {
    programs.push_back(compiled(cases[i], target));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &cases[i].inputs});
  }
  expect_clean_code(entries, *find_target(target), more_flags);
}

void add_cases(std::vector<Case>& to, std::vector<Case> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace etch
