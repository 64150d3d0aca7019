// Words that are meant: changes of every kind, and words that nobody meant.
#include "compiler/base/closest.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

const std::vector<std::string> kWords = {"compile", "check", "--target", "QLinearConv"};

TEST(Closest, FindsWhatOneOrTwoChangesMake) {
  EXPECT_EQ(closest("compil", kWords), "compile");
  EXPECT_EQ(closest("compille", kWords), "compile");
  EXPECT_EQ(closest("chekc", kWords), "check");  // an exchange is one change
  EXPECT_EQ(closest("--tagret", kWords), "--target");
  EXPECT_EQ(closest("qlinearconv", kWords), "QLinearConv");
}

TEST(Closest, FindsNothingInOtherWords) {
  EXPECT_EQ(closest("xyz", kWords), "");
  EXPECT_EQ(closest("", kWords), "");
  EXPECT_EQ(closest("cat", kWords), "");
  EXPECT_EQ(closest("x", {"y"}), "");
}

TEST(Closest, PrefersTheFewestChanges) {
  EXPECT_EQ(closest("checkk", {"chick", "check", "checker"}), "check");
}

TEST(Closest, LongWordsCostNothing) {
  EXPECT_EQ(closest(std::string(1'000'000, 'a'), {std::string(1'000'000, 'a') + "b"}), "");
}

TEST(Closest, AsksInASentence) {
  EXPECT_EQ(did_you_mean("chek", kWords), "; did you mean 'check'?");
  EXPECT_EQ(did_you_mean("zzzz", kWords), "");
}

}  // namespace
}  // namespace etch
