// Float products of every number of columns give the sums that the definition says, from panels and
// from rows as they are.
#include "runtime/etch_float_products.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "runtime/etch_float_column.h"

namespace etch::rt {
namespace {

struct Case {
  std::int32_t rows, depth, columns, relu;
  bool biased;
};

std::vector<float> values(std::size_t n) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(i * 37 % 101) * 0.3F - 14.7F;
  return out;
}

std::size_t area(std::int32_t rows, std::int32_t columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

FloatConvShape shape_of(const Case& p) {
  FloatConvShape s{};
  s.batch = s.group = 1;
  s.in = p.depth;
  s.out = p.columns;
  s.x_channel = s.y_channel = 1;
  s.along = 2;
  s.axis[0] = s.axis[1] = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  s.axis[2] = {p.rows, 1, p.rows, 1, 1, 0, p.depth, 0, p.columns};
  return s;
}

std::vector<float> expected(const Case& p, const std::vector<float>& x, const std::vector<float>& w,
                            const std::vector<float>& c) {
  std::vector<float> y;
  for (std::int32_t i = 0; i < p.rows; ++i) {
    for (std::int32_t j = 0; j < p.columns; ++j) {
      float sum = 0;
      for (std::int32_t k = 0; k < p.depth; ++k)
        sum = sum + opaque(x[area(i, p.depth) + area(1, k)] * w[area(k, p.columns) + area(1, j)]);
      sum = sum + c[p.biased ? area(1, j) : 0];
      y.push_back(p.relu != 0 && sum < 0 ? 0 : sum);
    }
  }
  return y;
}

void expect_products(const Case& p) {
  const std::vector<float> x = values(area(p.rows, p.depth)), w = values(area(p.depth, p.columns));
  const std::vector<float> c = p.biased ? values(area(1, p.columns)) : std::vector<float>{-0.0F};
  const std::vector<float> correct = expected(p, x, w, c);
  const FloatEnd end{1, 1, 0, p.biased ? 1 : 0, p.relu};
  FloatConvShape s = shape_of(p);
  std::vector<float> packed(w.size()), y(correct.size());
  pack_panels({1, 1, p.depth, p.columns, kPanel, 0, 0, p.columns, 1}, w.data(), packed.data());
  float_conv(s, end, x.data(), packed.data(), c.data(), y.data());
  ASSERT_EQ(y, correct) << p.rows << " x " << p.depth << " x " << p.columns;
  s.panel = kNarrowPanel;
  pack_panels({1, 1, p.depth, p.columns, s.panel, 0, 0, p.columns, 1}, w.data(), packed.data());
  y.assign(y.size(), 77);
  float_conv(s, end, x.data(), packed.data(), c.data(), y.data());
  ASSERT_EQ(y, correct) << p.rows << " x " << p.depth << " x " << p.columns << " in narrow panels";
  s.panel = p.columns;
  y.assign(y.size(), 77);
  float_conv(s, end, x.data(), w.data(), c.data(), y.data());
  ASSERT_EQ(y, correct) << p.rows << " x " << p.depth << " x " << p.columns << " as it is";
}

TEST(FloatProducts, OfEveryNumberOfColumnsAreTheSumsInOrder) {
  for (std::int32_t columns = 1; columns <= 140; ++columns) {
    expect_products({7, 5, columns, columns % 2, columns % 3 == 0});
    expect_products({1, 3, columns, 0, true});
  }
}

TEST(FloatProducts, OfEveryNumberOfRowsAreTheSumsInOrder) {
  for (std::int32_t rows = 1; rows <= 20; ++rows) {
    expect_products({rows, 9, 97, rows % 2, true});
    expect_products({rows, 150, 83, 0, rows % 2 == 0});
  }
}

TEST(FloatProducts, OfOneColumnAreTheSumsInOrder) {
  for (std::int32_t rows = 1; rows <= 140; ++rows) {
    const Case p{rows, 1 + rows * 7 % 80, 1, rows % 2, true};
    const std::vector<float> x = values(area(p.rows, p.depth)), w = values(area(p.depth, 1));
    const std::vector<float> c = values(1);
    std::vector<float> y(area(rows, 1));
    float_column(shape_of(p), {1, 1, 0, 1, p.relu}, x.data(), w.data(), c.data(), y.data());
    ASSERT_EQ(y, expected(p, x, w, c)) << p.rows << " x " << p.depth;
  }
}

// c belongs to rows, and both are scaled.
TEST(FloatProducts, OfOneColumnHaveEveryEnd) {
  const Case p{37, 5, 1, 0, false};
  const std::vector<float> x = values(area(p.rows, p.depth)), w = values(area(p.depth, 1));
  const std::vector<float> c = values(area(p.rows, 1));
  std::vector<float> y(c.size());
  float_column(shape_of(p), {2, 0.5F, 1, 0, 0}, x.data(), w.data(), c.data(), y.data());
  const std::vector<float> sums = expected(p, x, w, {-0.0F});
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(y[i], opaque(2 * sums[i]) + opaque(0.5F * c[i])) << i;
}

}  // namespace
}  // namespace etch::rt
