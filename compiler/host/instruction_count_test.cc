// Numbers between marks as the harness sets them: of each sample what comes before, a call of
// nothing, and the pieces.
#include "compiler/host/instruction_count.h"

#include <gtest/gtest.h>

namespace etch::cli {
namespace {
using Counts = std::vector<std::vector<std::int64_t>>;

TEST(InstructionCount, OfEverySampleLessTheCallItself) {
  EXPECT_EQ(samples_of(std::vector<std::int64_t>{900, 5, 105, 45, 17, 7, 207, 47}, 2, 2),
            (Counts{{100, 40}, {200, 40}}));
}

TEST(InstructionCount, OfAnotherNumberOfMarksIsNone) {
  EXPECT_EQ(samples_of(std::vector<std::int64_t>{900, 5, 105, 45, 17, 7, 207}, 2, 2), Counts{});
  EXPECT_EQ(samples_of(std::vector<std::int64_t>{}, 1, 2), Counts{});
}

}  // namespace
}  // namespace etch::cli
