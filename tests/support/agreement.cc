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

#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/targets.h"

namespace etch {

std::vector<Case> half_of(std::vector<Case> cases, std::size_t half) {
  if (std::getenv("ETCH_SWEEP") != nullptr) return cases;
  std::vector<Case> out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i * i / 7 % 2 == half) out.push_back(std::move(cases[i]));
  }
  return out;
}

std::vector<Case> thinned(std::vector<Case> cases, const IsaTraits& isa) {
  if (isa.name == "sse41" || isa.name == "avx_vnni") return half_of(std::move(cases), 0);
  if (isa.name == "scalar") return half_of(std::move(cases), 1);
  return cases;
}

void expect_native_agrees(const std::vector<Case>& cases, RequantizeMode requantize) {
  int failures = 0;
  for (const Case& each : cases) {
    const std::vector<Tensor> expected = reference_outputs(each);
    for (const IsaTraits* const isa : plans()) {
      const auto program = compiled(each, isa->name, requantize);
      ASSERT_NE(program, nullptr);
      const std::string difference = difference_of(native_outputs(*program, each.inputs), expected);
      EXPECT_EQ(difference, "") << each.name << " on " << isa->name;
      if (!difference.empty() && ++failures == 10) return;
    }
  }
}

void expect_compiled_agrees(const std::vector<Case>& cases, std::string_view target) {
  std::vector<std::vector<Tensor>> expected;
  for (const Case& each : cases) expected.push_back(reference_outputs(each));
  expect_compiled_gives(cases, expected, target);
}

void expect_compiled_gives(const std::vector<Case>& cases,
                           const std::vector<std::vector<Tensor>>& expected,
                           std::string_view target) {
  const IsaTraits& isa = *find_target(target);
  const std::string obstacle = why_not_here(isa);
  if (!obstacle.empty()) GTEST_SKIP() << target << ": " << obstacle;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : cases) {
    programs.push_back(compiled(each, target));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &each.inputs});
  }
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], expected[i]), "") << cases[i].name;
  }
}

void expect_clean_code(std::span<const BatchEntry> entries, const IsaTraits& isa) {
  for (const char* compiler : {"g++", "clang++"}) {
    SCOPED_TRACE(compiler);
    const auto symbols =
        compile_generated(entries, isa, compiler,
                          {"-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
                           "-Wsign-conversion", "-Wshadow", "-Wcast-align", "-Wundef", "-Werror",
                           "-fno-exceptions", "-fno-rtti", "-ffreestanding"});
    ASSERT_TRUE(symbols);
    for (const std::string& name : symbols->needed)
      EXPECT_TRUE(name == "memcpy" || name == "memset") << name;
    EXPECT_EQ(symbols->writable, std::vector<std::string>());
  }
}

void expect_clean_code(const std::vector<Case>& cases, std::string_view target) {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : cases) {
    programs.push_back(compiled(each, target));
    ASSERT_NE(programs.back(), nullptr);
    entries.push_back({programs.back().get(), &each.inputs});
  }
  expect_clean_code(entries, *find_target(target));
}

void add_cases(std::vector<Case>& to, std::vector<Case> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace etch
