// Operators that move, select and resize elements against ONNX Runtime: tests/data/moves holds what
// it computed (tools/record_moves.py). The references and the steps have to equal it bit for bit.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/engines.h"
#include "tests/support/paths.h"
#include "tests/support/recorded_cases.h"

namespace etch {
namespace {

TEST(RecordedMoves, EqualOnnxRuntimeBitForBit) {
  const std::filesystem::path folder = std::filesystem::path(source_dir()) / "tests/data/moves";
  for (const RecordedCase& each : read_recorded_cases(folder)) {
    EXPECT_EQ(difference_of(reference_outputs(each.model), each.outputs), "") << each.model.name;
    const auto program = compiled(each.model, "avx512_vnni");
    ASSERT_NE(program, nullptr) << each.model.name;
    EXPECT_EQ(difference_of(native_outputs(*program, each.model.inputs), each.outputs), "")
        << each.model.name;
  }
}

}  // namespace
}  // namespace etch
