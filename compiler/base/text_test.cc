// Counts with their nouns.
#include "compiler/base/text.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

TEST(Counted, IsSingularForOneOnly) {
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(2, "row"), "2 rows");
  EXPECT_EQ(counted(-1, "row"), "-1 rows");
  EXPECT_EQ(plural(1, "byte"), "byte");
  EXPECT_EQ(plural(1001, "byte"), "bytes");
}

TEST(Text, RealNumbersAreReadToTheNearestAndAsAWhole) {
  EXPECT_EQ(parse_float("0.1"), 0.1F);
  EXPECT_EQ(parse_float("16777217"), 16777216.0F);  // a tie, to even
  EXPECT_EQ(parse_double("-2.5e-3"), -2.5e-3);
  for (const char* const no :
       {"", " 1", "1 ", "1,5", "1x", "x", "nan", "inf", "1e999", "+1", "0x10"}) {
    EXPECT_EQ(parse_float(no), std::nullopt) << no;
    EXPECT_EQ(parse_double(no), std::nullopt) << no;
  }
}

TEST(Text, NamesToTypeAreLonger) {
  const std::string name(70, 'a');
  EXPECT_EQ(printable(name), std::string(60, 'a') + "...");
  EXPECT_EQ(printable(name, 100), name);
}

}  // namespace
}  // namespace etch
