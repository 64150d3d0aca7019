// What `etch check` calls equal.
#include "compiler/host/compare.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace etch::cli {
namespace {

Tensor bytes(const std::vector<std::int8_t>& values) {
  return Tensor::of<std::int8_t>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Compare, EqualTensorsAreExact) {
  EXPECT_EQ(to_string(compare(bytes({1, -2, 3}), bytes({1, -2, 3}))), "exact");
  EXPECT_EQ(to_string(compare(floats({1.5F}), floats({1.5F}))), "exact");
  EXPECT_EQ(to_string(compare(bytes({}), bytes({}))), "exact");
}

TEST(Compare, CountsAndMeasuresInSteps) {
  const Difference difference = compare(bytes({1, -128, 3, 4}), bytes({1, 127, 4, 4}));
  EXPECT_EQ(to_string(difference), "2 of 4 differ, max 255");
  EXPECT_TRUE(difference.within(255));
  EXPECT_FALSE(difference.within(254));
}

TEST(Compare, UnsignedDifferencesDoNotWrap) {
  const Tensor zero = Tensor::of<std::uint64_t>({1}, {0});
  const Tensor all = Tensor::of<std::uint64_t>({1}, {~std::uint64_t{0}});
  EXPECT_GT(compare(zero, all).largest, 1.8e19);
  EXPECT_GT(compare(all, zero).largest, 1.8e19);
}

TEST(Compare, FloatsAreComparedByBits) {
  EXPECT_EQ(to_string(compare(floats({0.0F, 1.0F}), floats({-0.0F, 1.0F}))),
            "1 of 2 differ, max 0, cosine 1, same arg-max");
  EXPECT_EQ(to_string(compare(floats({1.25F, 2}), floats({2.0F, -1}))),
            "2 of 2 differ, max 3, cosine 0.0948091, another arg-max");
}

TEST(Compare, NanEqualsNanOfAnyBits) {
  EXPECT_EQ(to_string(compare(floats({kNan}), floats({-kNan}))), "exact");
  EXPECT_EQ(to_string(compare(floats({kNan}), floats({1.0F}))),
            "1 of 1 differ, max inf, cosine 0, same arg-max");
  EXPECT_EQ(to_string(compare(floats({kInfinity}), floats({1.0F}))),
            "1 of 1 differ, max inf, cosine 0, same arg-max");
}

TEST(Compare, AToleranceIsAbsoluteBelowOneAndRelativeAbove) {
  EXPECT_TRUE(compare(floats({0.25F, 1000.5F}), floats({0.2505F, 1000.0F})).within_tolerance(1e-3));
  EXPECT_FALSE(compare(floats({0.25F}), floats({0.2625F})).within_tolerance(1e-2));
  EXPECT_FALSE(compare(floats({1000.5F}), floats({1000.0F})).within_tolerance(1e-4));
  EXPECT_FALSE(compare(bytes({1}), bytes({2})).within_tolerance(1e9));
  EXPECT_FALSE(compare(floats({kNan}), floats({1.0F})).within_tolerance(1e9));
}

TEST(Compare, NothingElseIsWithinAToleranceOfInfinity) {
  EXPECT_EQ(to_string(compare(floats({kInfinity}), floats({kInfinity}))), "exact");
  for (const float other : {-kInfinity, kNan, 1.0F, std::numeric_limits<float>::max()}) {
    EXPECT_FALSE(compare(floats({other}), floats({kInfinity})).within_tolerance(1e9)) << other;
    EXPECT_FALSE(compare(floats({kInfinity}), floats({other})).within_tolerance(1e9)) << other;
  }
}

TEST(Compare, WorseIsMoreElementsOrALargerDifference) {
  const Tensor expected = bytes({1, 2, 3, 4});
  const Difference one = compare(bytes({1, 2, 3, 6}), expected);
  EXPECT_TRUE(one.no_worse_than(one));
  EXPECT_TRUE(one.no_worse_than(compare(bytes({1, 2, 5, 6}), expected)));
  EXPECT_FALSE(compare(bytes({1, 2, 4, 5}), expected).no_worse_than(one));
  EXPECT_FALSE(compare(bytes({1, 2, 3, 7}), expected).no_worse_than(one));
}

TEST(Compare, NoStepMakesDifferentFloatsAcceptable) {
  EXPECT_FALSE(compare(floats({1.0F}), floats({1.5F})).within(100));
  EXPECT_TRUE(compare(floats({1.0F}), floats({1.0F})).within(0));
}

}  // namespace
}  // namespace etch::cli
