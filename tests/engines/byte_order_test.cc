// Constants of several bytes per element on a big-endian machine: steps that move them as bytes
// find them in the byte order of the machine.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/host/toolchain.h"
#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/cases.h"
#include "tests/support/engines.h"
#include "tests/support/generated_batch.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// One node with a constant `c` and an input `x`, which it moves.
Case moved_constant(const std::string& op, const Tensor& c, const Tensor& x,
                    const std::vector<std::string>& operands, std::int64_t axis) {
  const std::vector<Dim> dims(x.shape().begin(), x.shape().end());
  ModelBuilder model;
  model.input("x", x.dtype(), dims).initializer("c", c);
  model.node(op, operands, {"y"}, {{"axis", axis}});
  model.output("y");
  return {cat(op, "_of_", name_of(c.dtype())), model.bytes(), {x}};
}

// Elements of constants that steps copy as bytes have to be in the byte order of the machine.
TEST(ByteOrder, ConstantsThatAreMovedHaveThatOfTheMachine) {
  const IsaTraits& isa = *find_target("s390x");
  const std::string missing = cli::status_of(isa).missing;
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Tensor words = f32({2, 3}, {1.5F, -2, 3e-9F, 4e9F, 5, -6.25F});
  const Tensor longs = s64({2, 3}, {1, -2, std::int64_t{3} << 40, 4, 5, -6});
  std::vector<Case> all;
  for (const Tensor& c : {words, longs}) {
    all.push_back(moved_constant("Gather", c, s64({2}, {1, 0}), {"c", "x"}, 0));
    all.push_back(moved_constant("GatherElements", c, s32({2, 2}, {1, 0, 2, 2}), {"c", "x"}, 1));
    all.push_back(moved_constant("Concat", c, c, {"c", "x"}, 0));
  }
  std::vector<float> many(64);  // a literal, not a list
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i) + 0.5F;
  all.push_back(moved_constant("Gather", f32({64}, many), s64({2}, {63, -63}), {"c", "x"}, 0));
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<BatchEntry> entries;
  for (const Case& each : all) {
    programs.push_back(compiled(each, isa.name));
    ASSERT_NE(programs.back(), nullptr) << each.name;
    entries.push_back({programs.back().get(), &each.inputs});
  }
  const auto outputs = run_generated(entries, isa);
  ASSERT_TRUE(outputs);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(difference_of((*outputs)[i], reference_outputs(all[i])), "") << all[i].name;
  }
}

}  // namespace
}  // namespace etch
