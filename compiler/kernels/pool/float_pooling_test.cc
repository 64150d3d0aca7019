// Which pools of floats go along lines, and which turn both tensors to have channels in vectors.
// Their results are compared by tests/engines.
#include "compiler/kernels/pool/float_pooling.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/support/engines.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

// Steps of a MaxPool over `kernel` x `kernel` elements, one apart, of `channels` lines of `width`.
std::size_t steps_of_pool(std::int64_t channels, std::int64_t width, std::int64_t kernel,
                          std::string_view target = "avx2") {
  ModelBuilder model(19);
  model.input("x", DType::kF32, {1, channels, 8, width});
  const std::int64_t before = kernel / 2, after = (kernel - 1) / 2;
  model.node(
      "MaxPool", {"x"}, {"y"},
      {{"kernel_shape", Ints{kernel, kernel}}, {"pads", Ints{before, before, after, after}}});
  model.output("y");
  const std::unique_ptr<Program> program = compiled({"pool", model.bytes(), {}}, target);
  return program == nullptr ? 0 : program->steps.size();
}

constexpr std::size_t kAlongLines = 1, kTurned = 3;

TEST(FloatPools, OfManyChannelsGoAlongLinesOf24WindowsInside) {
  EXPECT_EQ(steps_of_pool(32, 26, 3), kAlongLines);
  EXPECT_EQ(steps_of_pool(32, 25, 3), kTurned);
}

// Twelve for each element that a window has beside the first: its border takes one by one.
TEST(FloatPools, OfWideWindowsGoAlongLinesWithMoreInside) {
  EXPECT_EQ(steps_of_pool(32, 39, 4), kAlongLines);
  EXPECT_EQ(steps_of_pool(32, 38, 4), kTurned);
  EXPECT_EQ(steps_of_pool(32, 52, 5), kAlongLines);
  EXPECT_EQ(steps_of_pool(32, 51, 5), kTurned);
}

// One position of each end is computed alone, and six inside pay for it.
TEST(FloatPools, OfSixteenChannelsGoAlongLinesThatHaveSixPositionsInsideForEachOfTheBorder) {
  EXPECT_EQ(steps_of_pool(16, 14, 3), kAlongLines);
  EXPECT_EQ(steps_of_pool(16, 13, 3), kTurned);
  EXPECT_EQ(steps_of_pool(17, 14, 3), kTurned);
  EXPECT_EQ(steps_of_pool(16, 14, 4), kTurned);
  EXPECT_EQ(steps_of_pool(16, 14, 3, "sse41"), kTurned);
}

TEST(FloatPools, OfFewChannelsGoAlongLinesWhateverTheirWindows) {
  EXPECT_EQ(steps_of_pool(8, 12, 5), kAlongLines);
}

}  // namespace
}  // namespace etch
