#include "compiler/program/size_formula.h"

#include <gtest/gtest.h>

#include <functional>
#include <regex>

namespace etch {
namespace {

using Number = std::function<std::int64_t(std::int64_t)>;

SizeFormula::Values values_of(const Number& number, std::int64_t least, std::int64_t most,
                              std::int64_t step = 1) {
  SizeFormula::Values out;
  for (std::int64_t size = least; size <= most; size += step) out.emplace_back(size, number(size));
  return out;
}

std::string text(const Number& number, std::int64_t least = 1, std::int64_t most = 100,
                 std::int64_t step = 1) {
  const SizeFormula::Values values = values_of(number, least, most, step);
  const SizeFormula formula(values);
  for (const auto& [size, value] : values) EXPECT_EQ(formula.at(size), value);
  return formula.is_table() ? "table" : formula.text();
}

TEST(SizeFormula, IsTheSimplestThatGivesTheNumbers) {
  EXPECT_EQ(text([](auto) { return 7; }), "7");
  EXPECT_EQ(text([](auto) { return -7; }), "-7");
  EXPECT_EQ(text([](auto n) { return n; }), "size");
  EXPECT_EQ(text([](auto n) { return 3 * n - 5; }), "size * 3 - 5");
  EXPECT_EQ(text([](auto n) { return 8 - n; }), "-size + 8");
  EXPECT_EQ(text([](auto n) { return n * n * 12; }), "size * size * 12");
  EXPECT_EQ(text([](auto n) { return n * n - n + 1; }), "size * size - size + 1");
  EXPECT_EQ(text([](auto n) { return n / 4; }), "size / 4");
  EXPECT_EQ(text([](auto n) { return n % 16; }), "size % 16");
  EXPECT_EQ(text([](auto n) { return n / 6 * 24 + n % 6 * 2 + 1; }),
            "size / 6 * 24 + size % 6 * 2 + 1");
}

TEST(SizeFormula, IsOfTheVariableThatIsNamed) {
  const SizeFormula square({{2, 4}, {3, 9}, {4, 16}, {5, 25}});
  EXPECT_EQ(square.text("resize"), "resize * resize");
  const SizeFormula table({{2, 5}, {3, 1}, {5, 11}, {6, 3}});
  EXPECT_EQ(table.text("n"), table.table_name() + "[n - 2]");
}

TEST(SizeFormula, FollowsSizesThatAreApart) {
  EXPECT_EQ(text([](auto n) { return n / 4; }, 5, 100, 4), "size / 4");
  EXPECT_EQ(text([](auto n) { return n * 2; }, 9, 9), "18");
}

TEST(SizeFormula, BecomesATableWhereNoFormulaFits) {
  const SizeFormula::Values values = {{2, 5}, {3, 1}, {5, 11}, {6, 3}};
  const SizeFormula formula(values);
  ASSERT_TRUE(formula.is_table());
  EXPECT_EQ(formula.at(5), 11);
  EXPECT_TRUE(std::regex_match(formula.text(), std::regex("sizes_[0-9a-f]{8}\\[size - 2\\]")));
  EXPECT_EQ(formula.table_definition(),
            "inline constexpr int32_t " + formula.table_name() + "[] = {5, 1, 0, 11, 3};");
  EXPECT_EQ(formula, SizeFormula(values));
}

TEST(SizeFormula, LeavesNoIntOnTheWay) {
  EXPECT_EQ(text([](auto n) { return n * 1'000'000'000; }, 1, 3), "table");
  EXPECT_EQ(text([](auto n) { return n * n * 1'000'000; }, 1, 100), "table");
}

TEST(SizeFormula, IsAFactorInParentheses) {
  EXPECT_EQ(SizeFormula(values_of([](auto n) { return n; }, 1, 9)).factor(), "size");
  EXPECT_EQ(SizeFormula(values_of([](auto n) { return 2 * n; }, 1, 9)).factor(), "(size * 2)");
}

std::string condition(const std::function<bool(std::int64_t)>& holds, std::int64_t least = 1,
                      std::int64_t most = 40) {
  std::vector<std::int64_t> these, all;
  for (std::int64_t size = least; size <= most; ++size) {
    all.push_back(size);
    if (holds(size)) these.push_back(size);
  }
  return size_condition(these, all);
}

TEST(SizeCondition, SaysWhichSizes) {
  EXPECT_EQ(condition([](auto) { return true; }), "true");
  EXPECT_EQ(condition([](auto n) { return n == 3; }), "size == 3");
  EXPECT_EQ(condition([](auto n) { return n >= 5; }), "size >= 5");
  EXPECT_EQ(condition([](auto n) { return n <= 5; }), "size <= 5");
  EXPECT_EQ(condition([](auto n) { return n >= 5 && n <= 9; }), "size >= 5 && size <= 9");
  EXPECT_EQ(condition([](auto n) { return n % 8 == 5; }), "size % 8 == 5");
  EXPECT_EQ(condition([](auto n) { return n >= 9 && n % 4 == 1; }), "size >= 9 && size % 4 == 1");
  EXPECT_EQ(condition([](auto n) { return n % 4 != 0; }), "size % 4 != 0");
  EXPECT_EQ(condition([](auto n) { return n == 2 || n == 3 || n == 17; }), "");
}

}  // namespace
}  // namespace etch
