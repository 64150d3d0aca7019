// Loop, Scan and If: references, steps and compiled code agree bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/control_cases.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

TEST(Control, Natively) { expect_native_agrees(control_cases()); }

// One of each kind: what differs from case to case is planned, not compiled.
std::vector<Case> few_cases() {
  constexpr const char* kKinds[] = {
      "until its counter says so", "stops at 9",   "values that change",
      "scan 1 0 0 1 2 1 1 0",      "branches 0 1", "a branch in a loop",
      "an unchanged condition"};
  std::vector<Case> out;
  for (Case& each : control_cases()) {
    const auto is_of = [&](const char* kind) { return each.name.starts_with(kind); };
    if (std::ranges::any_of(kKinds, is_of)) out.push_back(std::move(each));
  }
  return out;
}

// What is around the steps is the same C++ on every target, the steps have tests of their own.
constexpr const char kAround[] = "loops around steps, compiled for avx_vnni too";

class CompiledControl : public testing::TestWithParam<const char*> {};

TEST_P(CompiledControl, AgreesWithTheReferences) {
  expect_compiled_agrees(few_cases(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Control, CompiledControl,
    testing::ValuesIn(all_targets_but({{"sse41", kAround}, {"avx2", kAround}})), name_of_target);

TEST(Control, CompilesWithoutWarningsAndNeedsOnlyMemcpyAndMemset) {
  expect_clean_code(few_cases(), "scalar");
}

}  // namespace
}  // namespace etch
