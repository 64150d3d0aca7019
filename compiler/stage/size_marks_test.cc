#include "compiler/stage/size_marks.h"

#include <gtest/gtest.h>

#include "compiler/base/text.h"

namespace etch {
namespace {

// A function with two numbers, and what two sizes print for it.
std::string body(std::int64_t rows, std::int64_t stride) {
  return cat("void f(", marked_parameters("const float* x"), ") { loop(", marked(rows), "); g(",
             marked_arguments("g", cat("x", marked_term("row", stride), marked_offset(0))), "); }");
}

TEST(SizeMarks, PlainTextIsWhatIsPrintedWithoutThem) {
  EXPECT_EQ(without_marks(body(3, 1)), "void f(const float* x) { loop(3); g(x + row); }");
  EXPECT_EQ(without_marks(body(3, -2)), "void f(const float* x) { loop(3); g(x - row * 2); }");
  EXPECT_EQ(without_marks(cat("x", marked_term("row", 0), marked_offset(-4))), "x - 4");
}

TEST(SizeMarks, TextsThatDifferInMarkedNumbersHaveOneSkeleton) {
  const MarkedText a = split_marks(body(3, 1)), b = split_marks(body(5, 8));
  EXPECT_EQ(a.skeleton, b.skeleton);
  EXPECT_EQ(b.numbers, (std::vector<std::int64_t>{5, 8, 0}));
  EXPECT_NE(a.skeleton, split_marks("void f(const float* x) { loop(3); g(x + row); }").skeleton);
}

TEST(SizeMarks, IntegersOfStructsAreMarkedButNotThoseInWordsAndComments) {
  const MarkedText text =
      split_marks(with_marked_integers("rt::Shape{12 /* 4 rows */, -3, 0x1.8p+2f, true, v4}"));
  EXPECT_EQ(text.numbers, (std::vector<std::int64_t>{12, -3}));
}

TEST(SizeMarks, FunctionsThatNeedTheSizeTakeIt) {
  const SizeFormula three({{1, 3}, {2, 3}}), twice({{1, 2}, {2, 4}, {3, 6}}),
      none({{1, 0}, {2, 0}});
  const std::string callee =
      cat("void g(", marked_parameters("const float* y"), ") { use(y", marked_offset(7), "); }");
  {
    const std::vector<SizeFormula> numbers = {twice, three, twice, none};
    MarkFiller filler(numbers);
    EXPECT_EQ(filler.fill("g", callee),
              "void g(const float* y, int size) { use(y + (size * 2)); }");
    EXPECT_EQ(filler.fill("f", body(3, 2)),
              "void f(const float* x, int size) { loop(3); g(x + row * (size * 2), size); }");
    EXPECT_TRUE(filler.done());
  }
  {
    // What it calls needs it.
    const std::vector<SizeFormula> numbers = {twice, three, three, none};
    MarkFiller filler(numbers);
    filler.fill("g", callee);
    EXPECT_EQ(filler.fill("f", body(3, 3)),
              "void f(const float* x, int size) { loop(3); g(x + row * 3, size); }");
  }
  {
    const std::vector<SizeFormula> numbers = {three, three, three, none};
    MarkFiller filler(numbers);
    EXPECT_EQ(filler.fill("g", callee), "void g(const float* y) { use(y + 3); }");
    EXPECT_EQ(filler.fill("f", body(3, 3)), "void f(const float* x) { loop(3); g(x + row * 3); }");
  }
}

}  // namespace
}  // namespace etch
