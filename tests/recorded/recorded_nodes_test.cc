// Single nodes and small groups of nodes against ONNX Runtime: each folder of tests/data/nodes
// holds what it computed on one topic (tools/record_nodes.py). The references and the steps have to
// equal it bit for bit.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/agreement.h"
#include "tests/support/engines.h"
#include "tests/support/paths.h"
#include "tests/support/recorded_cases.h"

namespace etch {
namespace {

class RecordedNodes : public testing::TestWithParam<const char*> {};

TEST_P(RecordedNodes, EqualOnnxRuntimeBitForBit) {
  const std::filesystem::path root = std::filesystem::path(source_dir()) / "tests/data/nodes";
  for (const RecordedCase& each : read_recorded_cases(root / GetParam())) {
    EXPECT_EQ(difference_of(reference_outputs(each.model), each.outputs), "") << each.model.name;
    for (const IsaTraits* const isa : all_targets()) {
      const auto program = compiled(each.model, isa->name);
      ASSERT_NE(program, nullptr) << each.model.name;
      EXPECT_EQ(difference_of(native_outputs(*program, each.model.inputs), each.outputs), "")
          << each.model.name << " on " << isa->name;
    }
  }
}

// Sums of floats, which ONNX Runtime adds in another order.
class RecordedFloatNodes : public testing::TestWithParam<const char*> {};

TEST_P(RecordedFloatNodes, StayWithinRounding) {
  const std::filesystem::path root = std::filesystem::path(source_dir()) / "tests/data/nodes";
  std::vector<Case> cases;
  for (const RecordedCase& each : read_recorded_cases(root / GetParam())) {
    const auto program = compiled(each.model, "avx2");
    ASSERT_NE(program, nullptr) << each.model.name;
    const std::vector<Tensor> got = native_outputs(*program, each.model.inputs);
    ASSERT_EQ(got.size(), each.outputs.size()) << each.model.name;
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(difference_from_recorded(got[i], each.outputs[i]), "") << each.model.name;
    cases.push_back(each.model);
  }
  expect_native_agrees(cases);
  std::vector<Case> some;
  for (std::size_t i = 0; i < cases.size(); i += 1 + cases.size() / 9) some.push_back(cases[i]);
  expect_compiled_agrees(some, "scalar");
}

INSTANTIATE_TEST_SUITE_P(Topics, RecordedFloatNodes,
                         testing::Values("attention", "fused", "transformer"));

// Now and then one of each topic, through the compiler.
TEST_P(RecordedNodes, EqualOnnxRuntimeWhenCompiled) {
  const std::filesystem::path root = std::filesystem::path(source_dir()) / "tests/data/nodes";
  std::vector<Case> cases;
  std::vector<std::vector<Tensor>> expected;
  const std::vector<RecordedCase> all = read_recorded_cases(root / GetParam());
  for (std::size_t i = 0; i < all.size(); i += 9) {
    cases.push_back(all[i].model);
    expected.push_back(all[i].outputs);
  }
  expect_compiled_gives(cases, expected, "scalar");
  expect_clean_code(cases, "scalar");
}

INSTANTIATE_TEST_SUITE_P(Topics, RecordedNodes,
                         testing::Values("antialias", "conversions", "cubic", "four_bits",
                                         "integers", "limits", "packed", "rows", "top_k", "where"));

}  // namespace
}  // namespace etch
