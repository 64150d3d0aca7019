// Transposes of elements of 2, 4 and 8 bytes, for sizes on both sides of every choice of a block,
// and copies of runs that memcpy takes: references, steps and compiled code give the same bits.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "tests/support/agreement.h"
#include "tests/support/model_builder.h"
#include "tests/support/targets.h"

namespace etch {
namespace {

Case transposed(DType type, const Shape& shape, const Ints& perm) {
  Dice dice(shape.size() * 1000 + static_cast<std::uint64_t>(shape.back()));
  ModelBuilder model(13);
  model.input("x", type, std::vector<Dim>(shape.begin(), shape.end()));
  model.node("Transpose", {"x"}, {"y"}, {{"perm", perm}}).output("y");
  Tensor x(type, shape);
  // No half float is NaN: of these only the code keeps all bits.
  for (std::byte& byte : x.mutable_bytes()) byte = static_cast<std::byte>(dice.between(0, 99));
  std::string name = cat("transposed_", static_cast<int>(type));
  for (const std::int64_t size : shape) name += cat("_", size);
  return {std::move(name), model.bytes(), {std::move(x)}};
}

std::vector<Case> transposed_matrices() {
  std::vector<Case> out;
  for (const DType type : {DType::kF16, DType::kS32, DType::kS64}) {
    for (const Shape& shape : std::vector<Shape>{
             {20, 30}, {70, 9}, {9, 100}, {40, 3}, {3, 40}, {41, 2}, {2, 41}, {5, 4}, {4, 6}})
      out.push_back(transposed(type, shape, {1, 0}));
    out.push_back(transposed(type, {3, 9, 70}, {0, 2, 1}));
    out.push_back(transposed(type, {1, 3, 8, 16}, {0, 2, 3, 1}));
    out.push_back(transposed(type, {2, 3, 4, 5, 6}, {0, 2, 4, 1, 3}));
  }
  return out;
}

// Each of the two runs is eight strips and a part of one.
Case joined_long_runs() {
  const Shape shape = {1, 32, 64, 65};
  ModelBuilder model(13);
  model.input("a", DType::kS32, {1, 32, 64, 65}).input("b", DType::kS32, {1, 32, 64, 65});
  model.node("Concat", {"a", "b"}, {"y"}, {{"axis", std::int64_t{1}}}).output("y");
  Case joined{"joined_long_runs", model.bytes(), {}};
  for (std::int32_t input = 0; input < 2; ++input) {
    std::int32_t next = input;
    joined.inputs.emplace_back(DType::kS32, shape);
    for (std::int32_t& each : joined.inputs.back().as<std::int32_t>()) each = next += 2;
  }
  return joined;
}

TEST(Transposed, NativelyAgree) { expect_native_agrees(transposed_matrices()); }
TEST(LongRuns, NativelyAgree) { expect_native_agrees({joined_long_runs()}); }

class CompiledTransposed : public testing::TestWithParam<const char*> {};

TEST_P(CompiledTransposed, AgreesWithTheReferences) {
  std::vector<Case> cases = transposed_matrices();
  cases.push_back(joined_long_runs());
  expect_compiled_agrees(cases, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Targets, CompiledTransposed, testing::ValuesIn(all_targets_but({})),
                         name_of_target);

}  // namespace
}  // namespace etch
