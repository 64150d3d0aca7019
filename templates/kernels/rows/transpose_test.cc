// Which copies are transposes.
#include "templates/kernels/rows/transpose.h"

#include <gtest/gtest.h>

#include "compiler/targets/targets.h"

namespace etch {
namespace {

Nest nest_of(int run, std::int64_t out_step, const std::vector<NestAxis>& axes) {
  Nest nest;
  nest.run = run;
  nest.out_step = out_step;
  nest.axes = axes;
  return nest;
}

// `count` positions, x_step bytes apart in x and y_step in y.
NestAxis axis(int count, std::int64_t x_step, std::int64_t y_step) {
  return {count, {x_step, 0, y_step}};
}

std::optional<TransposedPart> transposed_part(const Nest& nest, int flip,
                                              const char* target = "avx2") {
  return nest_detail::transposed_part(nest, flip, *find_target(target));
}

TEST(TransposedPart, OfBytesIsTheRunAndTheAxisThatIsDenseInTheOutput) {
  const auto part = transposed_part(nest_of(12, 8, {axis(2, 96, 96), axis(8, 12, 1)}), 128);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->size, 1);
  EXPECT_EQ(part->rows, 8);
  EXPECT_EQ(part->columns, 12);
  EXPECT_EQ(part->x_row, 12);
  EXPECT_EQ(part->y_row, 8);
  EXPECT_EQ(part->row, 1U);
}

TEST(TransposedPart, OfFourBytesIsTwoAxes) {
  const Nest nest = nest_of(4, 1, {axis(6, 20, 4), axis(5, 4, 24)});
  const auto part = transposed_part(nest, 0);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->size, 4);
  EXPECT_EQ(part->rows, 6);
  EXPECT_EQ(part->columns, 5);
}

TEST(TransposedPart, OfTwoAndEightBytesIsTakenWhereThereAreVectors) {
  for (const int size : {2, 8}) {
    const Nest nest = nest_of(size, 1, {axis(6, 5 * size, size), axis(5, size, 6 * size)});
    const auto part = transposed_part(nest, 0);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->size, size);
    EXPECT_EQ(part->rows, 6);
    EXPECT_EQ(part->columns, 5);
    EXPECT_FALSE(transposed_part(nest, 0, "scalar"));
    EXPECT_FALSE(transposed_part(nest, 0, "cortex-m55"));
  }
}

TEST(TransposedPart, OfOtherSizesIsNone) {
  EXPECT_FALSE(transposed_part(nest_of(6, 1, {axis(6, 30, 6), axis(5, 6, 36)}), 0));
}

TEST(TransposedPart, FourBytesThatAreChangedAreNoElement) {
  EXPECT_FALSE(transposed_part(nest_of(4, 1, {axis(6, 20, 4), axis(5, 4, 24)}), 128));
}

TEST(TransposedPart, FewRowsAreLeftToLoops) {
  EXPECT_FALSE(transposed_part(nest_of(12, 3, {axis(3, 12, 1)}), 0));
}

TEST(TransposedPart, ManyPixelsMayHaveTwoOrThreeChannels) {
  EXPECT_TRUE(transposed_part(nest_of(16, 3, {axis(3, 16, 1)}), 0));
  EXPECT_TRUE(transposed_part(nest_of(4, 1, {axis(16, 8, 4), axis(2, 4, 64)}), 0));
  EXPECT_FALSE(transposed_part(nest_of(64, 1, {axis(1, 64, 1)}), 0));
}

}  // namespace
}  // namespace etch
