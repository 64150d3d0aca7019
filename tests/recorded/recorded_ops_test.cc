// Operators against ONNX Runtime: tests/data/ops holds small random models of the quantized
// operators with the outputs that ONNX Runtime computed (tools/record_ops.py says how). Every
// output has to be equal bit for bit.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/paths.h"
#include "tests/support/replay.h"

namespace etch {
namespace {

TEST(RecordedOperators, EqualOnnxRuntimeBitForBit) {
  const std::filesystem::path folder = std::filesystem::path(source_dir()) / "tests/data/ops";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_EQ(replay(entry.path() / "model.onnx"), "") << entry.path().filename();
    ++count;
  }
  EXPECT_EQ(count, 60);
}

}  // namespace
}  // namespace etch
