// Operators on floats against ONNX Runtime's results, recorded by tools/record_float.py: the
// reference functions and the Native stage of every instruction set's plan. Floats are compared
// within 1e-5 of the largest value, since the order of sums differs; integers exactly.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "compiler/targets/targets.h"
#include "tests/support/engines.h"
#include "tests/support/paths.h"
#include "tests/support/recorded_cases.h"

namespace etch {
namespace {

std::vector<RecordedCase> all_cases() {
  return read_recorded_cases(std::filesystem::path(source_dir()) / "tests/data/float");
}

TEST(RecordedFloat, ReferenceFunctionsStayWithinRounding) {
  for (const RecordedCase& each : all_cases()) {
    const std::vector<Tensor> got = reference_outputs(each.model);
    ASSERT_EQ(got.size(), 1U) << each.model.name;
    EXPECT_EQ(difference_from_recorded(got[0], each.outputs[0]), "") << each.model.name;
  }
}

TEST(RecordedFloat, CompiledStepsStayWithinRounding) {
  for (const RecordedCase& each : all_cases()) {
    for (const IsaTraits* const isa : all_targets()) {
      const auto program = compiled(each.model, isa->name);
      ASSERT_NE(program, nullptr) << each.model.name;
      const std::vector<Tensor> got = native_outputs(*program, each.model.inputs);
      EXPECT_EQ(difference_from_recorded(got.at(0), each.outputs[0]), "")
          << each.model.name << " on " << isa->name;
    }
  }
}

}  // namespace
}  // namespace etch
