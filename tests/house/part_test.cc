// The parts of long lists of cases (tests/support/part.h): together they are the list.
#include "tests/support/part.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/base/text.h"

namespace etch {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (int i = 0; i < 300; ++i) out.push_back(cat(i % 2 == 0 ? "plane_" : "line_", i));
  return out;
}

TEST(Parts, HoldEveryCaseOnce) {
  for (const std::string& name : names()) {
    std::size_t holders = 0;
    for (std::size_t number = 1; number <= 5; ++number)
      holders += is_in({number, 5}, name) ? 1U : 0U;
    EXPECT_EQ(holders, 1U) << name;
  }
}

TEST(Parts, AreOfAboutOneSize) {
  for (std::size_t number = 1; number <= 5; ++number) {
    int count = 0;
    for (const std::string& name : names()) count += is_in({number, 5}, name) ? 1 : 0;
    EXPECT_GT(count, 40) << number;
    EXPECT_LT(count, 80) << number;
  }
}

TEST(Parts, AreNamedByTheirNumberAndHowManyThereAre) {
  const Part part = parse_part("2/5");
  EXPECT_EQ(part.number, 2U);
  EXPECT_EQ(part.of, 5U);
}

TEST(PartsDeathTest, OfNoNumberEndTheProgram) {
  for (const char* text : {"", "2", "0/5", "6/5", "2/", "/5", "2/5x", "two/5", "2 / 5"})
    EXPECT_DEATH(parse_part(text), "has to be like 1/4") << text;
}

TEST(Parts, OfAListHaveAtLeastOneCase) {
  EXPECT_EQ(part_of({{"the only one", {}, {}}}).size(), 1U);
  EXPECT_TRUE(part_of({}).empty());
}

}  // namespace
}  // namespace etch
