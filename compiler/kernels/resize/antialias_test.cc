// How much memory rows that are turned get in Resize with antialias; its results are compared by
// compiler/ops/resize and tests/engines.
#include "compiler/kernels/resize/antialias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/etch_antialias.h"
#include "tests/support/engines.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Positions of x that the memory of 20 rows of `width` floats, scaled along them, has.
std::int64_t positions_in_memory(std::int64_t width, float scale) {
  ModelBuilder model(19);
  model.input("x", DType::kF32, {20, width}).initializer("scales", f32({2}, {1, scale}));
  model.node("Resize", {"x", "", "scales"}, {"y"},
             {{"mode", std::string("linear")}, {"antialias", std::int64_t{1}}});
  model.output("y");
  const std::unique_ptr<Program> program = compiled({"rows", model.bytes(), {}}, "avx2");
  if (program == nullptr) return -1;
  for (const auto& step : program->steps) {
    const auto memory = std::ranges::find(step->operands, "memory", &Operand::name);
    if (memory == step->operands.end()) continue;
    const std::int64_t bytes = program->buffers[static_cast<std::size_t>(memory->buffer)].bytes;
    return bytes / std::int64_t{sizeof(float)} / rt::kTurnedRows - rt::kTurnedOutputs;
  }
  return -1;
}

TEST(AntialiasMemory, HasNoMorePositionsThanTheAxis) {
  EXPECT_EQ(positions_in_memory(40, 0.5F), 40);
  EXPECT_EQ(positions_in_memory(40, 0.05F), 40);  // filters of 40 inputs, twice as many asked for
}

TEST(AntialiasMemory, OfLongRowsHasAPart) {
  const std::int64_t part = positions_in_memory(4000, 0.5F);
  EXPECT_GT(part, 0);
  EXPECT_LT(part, 1000);
  EXPECT_EQ(positions_in_memory(8000, 0.5F), part);
}

}  // namespace
}  // namespace etch
