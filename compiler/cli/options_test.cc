// The syntax of --dim and --input-shape.
#include "compiler/cli/options.h"

#include <gtest/gtest.h>

namespace etch::cli {
namespace {

TEST(ParseDim, TakesANameAndASize) {
  const auto dim = parse_dim("batch=8");
  ASSERT_TRUE(dim);
  EXPECT_EQ(dim->first, "batch");
  EXPECT_EQ(dim->second, 8);
}

TEST(ParseDim, TheLastEqualsSignSeparates) { EXPECT_EQ(parse_dim("a=b=3")->first, "a=b"); }

TEST(ParseDim, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "N", "N=", "=3", "N=0", "N=-1", "N=1x", "N=1.5", "N= 1", "N=99999999999999999999"}) {
    EXPECT_FALSE(parse_dim(text)) << text;
  }
}

TEST(ParseShape, TakesSizesBetweenCommas) {
  const auto shape = parse_shape("data:0=1,3,224,224");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->first, "data:0");
  EXPECT_EQ(shape->second, (Shape{1, 3, 224, 224}));
  EXPECT_EQ(parse_shape("x=7")->second, Shape{7});
}

TEST(ParseShape, RefusesWhatIsNoShape) {
  for (const char* text : {"", "x", "x=", "=1,2", "x=1,", "x=,1", "x=1,,2", "x=1,0", "x=1;2"}) {
    EXPECT_FALSE(parse_shape(text)) << text;
  }
}

}  // namespace
}  // namespace etch::cli
