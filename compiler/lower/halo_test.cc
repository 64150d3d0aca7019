// The runs of a halo against every byte of the tensor's memory.
#include "compiler/lower/halo.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/base/text.h"

namespace etch {
namespace {

// How often each byte of the view's memory is set by the plan's runs.
std::vector<int> writes(const View& view, std::int64_t bytes) {
  std::vector<int> count(static_cast<std::size_t>(bytes), 0);
  for (const FillRun& run : plan_fill(view, 7).runs) {
    for (int i0 = 0; i0 < run.repeat[0]; ++i0) {
      for (int i1 = 0; i1 < run.repeat[1]; ++i1) {
        for (int i2 = 0; i2 < run.repeat[2]; ++i2) {
          const std::int64_t start =
              view.offset + run.offset + i0 * run.step[0] + i1 * run.step[1] + i2 * run.step[2];
          for (int n = 0; n < run.n; ++n) ++count.at(static_cast<std::size_t>(start + n));
        }
      }
    }
  }
  return count;
}

// 1 for every byte outside the tensor's elements.
std::vector<int> expected(const View& view, std::int64_t bytes) {
  std::vector<int> outside(static_cast<std::size_t>(bytes), 1);
  Shape index(view.shape.size(), 0);
  for (std::int64_t i = 0; i < element_count(view.shape); ++i) {
    std::int64_t at = view.offset;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * view.stride[d];
    outside.at(static_cast<std::size_t>(at)) = 0;
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < view.shape[d]) break;
      index[d] = 0;
    }
  }
  return outside;
}

TEST(Halo, RunsCoverEveryByteAroundTheTensorOnceAndNoneOfIt) {
  for (const std::int64_t images : {1, 2}) {
    for (int halo = 0; halo < 16; ++halo) {
      View view;
      view.shape = {images, 3, 4, 5};
      view.halo_begin = {0, 0, halo & 1, (halo >> 1) & 1};
      view.halo_end = {0, 0, 2 * ((halo >> 2) & 1), (halo >> 3) & 1};
      const std::int64_t bytes = lay_out(view, channels_last(4));
      EXPECT_EQ(has_halo(view), halo != 0);
      EXPECT_EQ(writes(view, bytes), expected(view, bytes)) << cat("halo ", halo, ", ", images);
    }
  }
}

TEST(Halo, OfAVolumeIsFilledPlaneByPlane) {
  View view;
  view.shape = {1, 2, 3, 2, 4};
  view.halo_begin = {0, 0, 1, 1, 0};
  view.halo_end = {0, 0, 0, 1, 2};
  const std::int64_t bytes = lay_out(view, channels_last(5));
  EXPECT_EQ(writes(view, bytes), expected(view, bytes));
}

TEST(Halo, OfThePartIsThatOfTheWholeAtItsBorder) {
  View whole;
  whole.shape = {1, 6, 4, 5};
  whole.halo_begin = {0, 0, 1, 2};
  whole.halo_end = {0, 0, 3, 4};
  lay_out(whole, channels_last(4));
  const View channels = part_with_halo(whole, {0, 2, 0, 0}, {1, 3, 4, 5});
  EXPECT_EQ(channels.offset, whole.offset + 2);
  EXPECT_EQ(channels.halo_begin, whole.halo_begin);
  EXPECT_EQ(channels.halo_end, whole.halo_end);
  const View top = part_with_halo(whole, {0, 0, 0, 1}, {1, 6, 3, 4});
  EXPECT_EQ(top.halo_begin, (std::vector<std::int64_t>{0, 0, 1, 0}));
  EXPECT_EQ(top.halo_end, (std::vector<std::int64_t>{0, 0, 0, 4}));
}

TEST(Halo, OfThePartIsNoneWhereItIsFilledAtRunTime) {
  View whole;
  whole.shape = {1, 6, 4, 5};
  whole.halo_begin = whole.halo_end = {0, 0, 1, 1};
  whole.halo_source = 3;
  lay_out(whole, channels_last(4));
  EXPECT_FALSE(has_halo(part_with_halo(whole, {0, 2, 0, 0}, {1, 3, 4, 5})));
}

TEST(View, KnowsItsOrderWhereSizesOfOneDoNotMatter) {
  View view;
  view.shape = {1, 6, 1, 1};
  lay_out(view, channels_last(4));
  EXPECT_TRUE(is_contiguous(view, row_major(4)));
  view.shape = {1, 2, 3, 4};
  lay_out(view, channels_last(4));
  EXPECT_TRUE(has_order(view, channels_last(4)));
  EXPECT_FALSE(has_order(view, row_major(4)));
  EXPECT_TRUE(has_order(permuted(view, {0, 2, 3, 1}), row_major(4)));
}

TEST(View, WithAHaloHasItsOrderButIsNotContiguous) {
  View view;
  view.shape = {1, 2, 3, 4};
  view.halo_begin = view.halo_end = {0, 0, 1, 1};
  lay_out(view, channels_last(4));
  EXPECT_TRUE(has_order(view, channels_last(4)));
  EXPECT_FALSE(is_contiguous(view, channels_last(4)));
}

}  // namespace
}  // namespace etch
