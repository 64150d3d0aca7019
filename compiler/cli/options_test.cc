// The syntax of options: --dim, --input-shape and others.
#include "compiler/cli/options.h"

#include <gtest/gtest.h>

namespace etch::cli {
namespace {

TEST(ParseDim, TakesANameAndASize) {
  const auto dim = parse_dim("batch=8");
  ASSERT_TRUE(dim);
  EXPECT_EQ(dim->first, "batch");
  EXPECT_EQ(dim->second, 8);
  EXPECT_EQ(parse_dim("past=0")->second, 0);
}

TEST(ParseDim, TheLastEqualsSignSeparates) { EXPECT_EQ(parse_dim("a=b=3")->first, "a=b"); }

TEST(ParseDim, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "N", "N=", "=3", "N=-1", "N=1x", "N=1.5", "N= 1", "N=99999999999999999999"}) {
    EXPECT_FALSE(parse_dim(text)) << text;
  }
}

TEST(ParseBound, TakesANameBetweenTheLeastAndTheMost) {
  EXPECT_EQ(parse_bound("seq<=8"), (SizeRange{"seq", 1, 8}));
  EXPECT_EQ(parse_bound("2<=seq<=8"), (SizeRange{"seq", 2, 8}));
}

TEST(ParseBound, RefusesWhatIsNoRange) {
  for (const char* text :
       {"", "N", "N=3", "<=8", "N<=", "N<=0", "N<=1", "0<=N<=8", "-1<=N<=8", "8<=N<=8", "9<=N<=8",
        "x<=N<=8", "N<=8x", "N<=99999999999999999999", "0<=N<=9223372036854775807"}) {
    EXPECT_FALSE(parse_bound(text)) << text;
  }
}

TEST(ParseShape, TakesSizesBetweenCommas) {
  const auto shape = parse_shape("data:0=1,3,224,224");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->first, "data:0");
  EXPECT_EQ(shape->second, (Shape{1, 3, 224, 224}));
  EXPECT_EQ(parse_shape("x=7")->second, Shape{7});
  EXPECT_EQ(parse_shape("x=2,0")->second, (Shape{2, 0}));
}

TEST(ParseShape, RefusesWhatIsNoShape) {
  for (const char* text : {"", "x", "x=", "=1,2", "x=1,", "x=,1", "x=1,,2", "x=1,-1", "x=1;2"}) {
    EXPECT_FALSE(parse_shape(text)) << text;
  }
}

TEST(ParseBytes, TakesNumbersAndUnits) {
  EXPECT_EQ(parse_bytes("1"), 1);
  EXPECT_EQ(parse_bytes("49152"), 49'152);
  EXPECT_EQ(parse_bytes("16k"), 16'384);
  EXPECT_EQ(parse_bytes("16K"), 16'384);
  EXPECT_EQ(parse_bytes("2M"), 2'097'152);
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const char* text : {"", "k", "0", "0k", "-1", "16kb", "16 k", "1.5k", "0x10", "1G",
                           "99999999999999999999", "1099511627776k"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(ParseUnroll, TakesAWayOrALayerAndAWay) {
  EXPECT_EQ(parse_unroll("full"), std::pair(std::string(), Unrolling{Unrolling::Kind::kFull, 0}));
  EXPECT_EQ(parse_unroll("n3_conv=8"),
            std::pair(std::string("n3_conv"), Unrolling{Unrolling::Kind::kGroups, 8}));
  EXPECT_EQ(parse_unroll("n3_conv=auto")->second, Unrolling{});
}

TEST(ParseUnroll, RefusesEverythingElse) {
  for (const char* text : {"", "0", "=4", "n3=", "n3=0", "n3=-1", "n3=4097", "n3=fully", "n3"}) {
    EXPECT_FALSE(parse_unroll(text)) << text;
  }
}

TEST(ParseQuantizeInput, TakesModeAndRangeAndMaybeAType) {
  const auto input = parse_quantize_input("data:0=SCALED,-10,5.5");
  ASSERT_TRUE(input);
  EXPECT_EQ(input->name, "data:0");
  EXPECT_EQ(input->mode, RangeMode::kScaled);
  EXPECT_EQ(input->min, -10.0F);
  EXPECT_EQ(input->max, 5.5F);
  EXPECT_FALSE(input->type);
  EXPECT_EQ(parse_quantize_input("x=MIN_FIRST,0,1e2,quint8")->type, DType::kU8);
}

TEST(ParseQuantizeInput, RefusesEverythingElse) {
  for (const char* text : {"", "x", "x=", "=SCALED,0,1", "x=SCALED", "x=SCALED,0", "x=SCALED,0,1,",
                           "x=MAX,0,1", "x=SCALED,0,1,int8", "x=SCALED,0,1,qint8,1",
                           "x=SCALED,nan,1", "x=SCALED,0,inf", "x=SCALED,0,1x", "x=SCALED,,1"}) {
    EXPECT_FALSE(parse_quantize_input(text)) << text;
  }
}

}  // namespace
}  // namespace etch::cli
