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

}  // namespace
}  // namespace etch
