// Operators that take rows in vectors, on rows that are long enough for it: references, steps and
// compiled code agree bit for bit.
#include <gtest/gtest.h>

#include "tests/support/agreement.h"
#include "tests/support/targets.h"
#include "tests/support/wide_cases.h"

namespace etch {
namespace {

TEST(WideRows, Natively) { expect_native_agrees(wide_cases()); }

constexpr const char kSame[] = "the same plain C++ and flags as avx2";

class CompiledWideRows : public testing::TestWithParam<const char*> {};

TEST_P(CompiledWideRows, AgreeWithTheReferences) {
  expect_compiled_agrees(thinned(wide_cases(), GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(WideRows, CompiledWideRows,
                         testing::ValuesIn(all_targets_but({{"avx_vnni", kSame}})), name_of_target);

TEST(WideRows, GiveCleanCode) { expect_clean_code(thinned(wide_cases(), "avx2"), "avx2"); }

}  // namespace
}  // namespace etch
