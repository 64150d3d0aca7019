// Loop, Scan and If against ONNX Runtime: tests/data/control holds small models on integers with
// the outputs that it computed (tools/record_control.py). References and steps give the same bits.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "tests/support/engines.h"
#include "tests/support/paths.h"
#include "tests/support/recorded_cases.h"

namespace etch {
namespace {

TEST(RecordedControl, EqualsOnnxRuntime) {
  const auto recorded =
      read_recorded_cases(std::filesystem::path(source_dir()) / "tests/data/control");
  ASSERT_GT(recorded.size(), 15U);
  for (const RecordedCase& each : recorded) {
    EXPECT_EQ(difference_of(reference_outputs(each.model), each.outputs), "") << each.model.name;
    const std::unique_ptr<Program> program = compiled(each.model, "scalar");
    ASSERT_NE(program, nullptr) << each.model.name;
    EXPECT_EQ(difference_of(native_outputs(*program, each.model.inputs), each.outputs), "")
        << each.model.name;
  }
}

}  // namespace
}  // namespace etch
