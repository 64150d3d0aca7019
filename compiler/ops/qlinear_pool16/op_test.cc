// QLinearAveragePool16 and QLinearGlobalAveragePool16: rounding and counts by hand.
#include "compiler/ops/qlinear_pool16/op.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

OneNode pool(const char* op, const std::vector<std::int16_t>& x, float x_scale, float y_scale) {
  const Tensor zero = Tensor::of<std::int16_t>({}, {0});
  OneNode node(op, "org.etch", 1);
  node.input(Tensor::of<std::int16_t>({1, 1, static_cast<std::int64_t>(x.size())}, x));
  node.constant(f32({}, {x_scale})).constant(zero).constant(f32({}, {y_scale})).constant(zero);
  return node;
}

std::int64_t mean(const std::vector<std::int16_t>& x, float x_scale = 1, float y_scale = 1) {
  return pool("QLinearGlobalAveragePool16", x, x_scale, y_scale).run().at(0).integer(0);
}

TEST(QLinearPool16, MeansAreRoundedOnceAndTiesToEven) {
  EXPECT_EQ(mean({1, 2}), 2);
  EXPECT_EQ(mean({2, 3}), 2);
  EXPECT_EQ(mean({-1, -2}), -2);
  EXPECT_EQ(mean({5, 2, 2, 2, 2, 2}), 2);  // 15 / 6
  EXPECT_EQ(mean({3, 3, 3}, 3, 2), 4);     // 4.5
  EXPECT_EQ(mean({32767, 32767}, 2, 1), 32767);
}

TEST(QLinearPool16, CountsPaddingWhereAsked) {
  OneNode inside = pool("QLinearAveragePool16", {6, 6, 6}, 1, 1);
  inside.attribute("kernel_shape", Ints{2}).attribute("pads", Ints{1, 1});
  EXPECT_EQ(inside.run().at(0), Tensor::of<std::int16_t>({1, 1, 4}, {6, 6, 6, 6}));
  OneNode all = pool("QLinearAveragePool16", {6, 6, 6}, 1, 1);
  all.attribute("kernel_shape", Ints{2}).attribute("pads", Ints{1, 1});
  all.attribute("count_include_pad", std::int64_t{1});
  EXPECT_EQ(all.run().at(0), Tensor::of<std::int16_t>({1, 1, 4}, {3, 6, 6, 3}));
}

TEST(QLinearPool16, WindowsBeyondInt32AreRefused) {
  EXPECT_EQ(pool("QLinearGlobalAveragePool16", std::vector<std::int16_t>(32767), 1, 1).errors(),
            "");
  EXPECT_EQ(pool("QLinearGlobalAveragePool16", std::vector<std::int16_t>(32768), 1, 1).errors(),
            "E-UNSUPPORTED: a window has more than 32767 elements");
}

// x: 0, 1, 2 ... of the shape.
OneNode mean_of_axes(const Shape& shape, const Ints& axes, std::int64_t keep = 1) {
  const Tensor zero = Tensor::of<std::int16_t>({}, {0}), one = f32({}, {1});
  std::vector<std::int16_t> x(static_cast<std::size_t>(element_count(shape)));
  std::iota(x.begin(), x.end(), std::int16_t{0});
  OneNode node("QLinearReduceMean16", "org.etch", 1);
  node.input(Tensor::of<std::int16_t>(shape, x));
  node.constant(one).constant(zero).constant(one).constant(zero);
  node.attribute("axes", axes).attribute("keepdims", keep);
  return node;
}

TEST(QLinearPool16, MeansOverAxesHaveTheShapesOfReduceMean) {
  EXPECT_EQ(mean_of_axes({2, 3, 2}, {1}).run().at(0),
            Tensor::of<std::int16_t>({2, 1, 2}, {2, 3, 8, 9}));
  EXPECT_EQ(mean_of_axes({2, 3, 2}, {-1, 1}, 0).run().at(0), Tensor::of<std::int16_t>({2}, {2, 8}));
  EXPECT_EQ(mean_of_axes({2, 3}, {0, 1}, 0).run().at(0), Tensor::of<std::int16_t>({}, {2}));
  EXPECT_EQ(mean_of_axes({3, 1, 2}, {0, 2}).run().at(0), Tensor::of<std::int16_t>({1, 1, 1}, {2}));
  EXPECT_EQ(mean_of_axes({3, 4, 1}, {0, 2}).run().at(0),
            Tensor::of<std::int16_t>({1, 4, 1}, {4, 5, 6, 7}));
  EXPECT_EQ(mean_of_axes({2, 3, 2}, {0}, 0).run().at(0),
            Tensor::of<std::int16_t>({3, 2}, {3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(mean_of_axes({2, 3, 2}, {0, 2}).errors(),
            "E-UNSUPPORTED: its axes are not side by side, or have no element");
}

}  // namespace
}  // namespace etch
