// Numbers of the reports.
#include "compiler/text/numbers.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

TEST(Numbers, HaveAsManyDecimalsAsAskedFor) {
  EXPECT_EQ(fixed(1.25, 0), "1");
  EXPECT_EQ(fixed(-0.126, 2), "-0.13");
  EXPECT_EQ(fixed(1e300, 0).size(), 301U);
}

TEST(Numbers, HaveNoMoreDigitsThanMatter) {
  EXPECT_EQ(significant(0.0123456, 3), "0.0123");
  EXPECT_EQ(significant(-2, 4), "-2");
  EXPECT_EQ(significant(1.23456e-9, 3), "1.23e-09");
}

TEST(Numbers, HaveThreeDigitsAndAUnit) {
  EXPECT_EQ(with_unit(0), "0");
  EXPECT_EQ(with_unit(999), "999");
  EXPECT_EQ(with_unit(1000), "1.00 k");
  EXPECT_EQ(with_unit(12345), "12.3 k");
  EXPECT_EQ(with_unit(999499), "999 k");
  EXPECT_EQ(with_unit(999999), "1.00 M");
  EXPECT_EQ(with_unit(300774272), "301 M");
  EXPECT_EQ(with_unit(9223372036854775807), "9.22 E");
}

TEST(Numbers, HaveASpaceBeforeTheUnitOfBytes) {
  EXPECT_EQ(bytes_with_unit(999), "999 B");
  EXPECT_EQ(bytes_with_unit(1000), "1.00 kB");
}

TEST(Numbers, PercentOfNothingIsNothing) {
  EXPECT_EQ(percent(1, 8), "12.5 %");
  EXPECT_EQ(percent(0, 0), "0.0 %");
}

}  // namespace
}  // namespace etch
