// Transposed convolutions of planes have the same bits as those of columns, and write nothing
// beside their results and their own memory.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/kernels/products/floats/pack.h"
#include "compiler/kernels/products/floats/plan.h"
#include "runtime/etch_float_transposed_planes.h"
#include "tests/support/float_pattern.h"

namespace etch {
namespace {

struct Layer {
  std::int64_t batch, group, in, out;  // in and out: per group
  std::int64_t height, width, kernel, stride, pad;
  std::int64_t dilation = 1, more = 0;  // more: output_padding
};

ConvAxis axis_of(const Layer& p, std::int64_t in) {
  const std::int64_t out =
      (in - 1) * p.stride - 2 * p.pad + (p.kernel - 1) * p.dilation + 1 + p.more;
  return {in, p.kernel, p.stride, p.dilation, p.pad, p.pad - p.more, out};
}

ConvGeometry geometry_of(const Layer& p) {
  ConvGeometry g;
  g.direction = ConvDirection::kTransposed;
  g.batch = p.batch;
  g.in_channels = p.group * p.in;
  g.out_channels = p.group * p.out;
  g.group = p.group;
  g.axes = {axis_of(p, p.height), axis_of(p, p.width)};
  return g;
}

View planes(const Shape& shape) {
  View view;
  view.dtype = DType::kF32;
  view.shape = shape;
  lay_out(view, row_major(static_cast<int>(shape.size())));
  return view;
}

constexpr float kUntouched = 77;

void expect_same_bits(const Layer& p, std::int32_t relu = 0) {
  const ConvGeometry g = geometry_of(p);
  if (g.axes[0].out < 1) return;
  const View from = planes({p.batch, g.in_channels, p.height, p.width});
  const View to = planes(g.output_shape());
  const std::int64_t taps = p.kernel * p.kernel;
  const Tensor weights = Tensor::of<float>({g.in_channels, p.out, p.kernel, p.kernel},
                                           float_pattern(g.in_channels * p.out * taps));
  const auto x = float_pattern(element_count(from.shape)), c = float_pattern(g.out_channels);
  const rt::FloatEnd end{1, 1, 0, 1, relu};
  std::vector<float> y(static_cast<std::size_t>(element_count(to.shape)) + 1, kUntouched);
  std::vector<float> expected = y;

  FloatProductPlan columns = plan_float_conv(g, false, from, to);
  rt::float_conv(columns.shape, end, x.data(),
                 in_panels(weights, pack_shape(g, false)).as<float>().data(), c.data(),
                 expected.data());

  FloatProductPlan plan = columns;
  plan.shape.along = 2;
  for (const std::int32_t panel : {4, 6, 8}) {
    plan.shape.panel = panel;
    std::vector<float> memory(static_cast<std::size_t>(rt::floats_of_phases(plan.shape)) + 1,
                              kUntouched);
    rt::float_transposed_planes(plan.shape, end, x.data(),
                                panels_of_phases(weights, plan.shape).as<float>().data(), c.data(),
                                y.data(), memory.data());
    ASSERT_EQ(y, expected) << p.in << " -> " << p.out << " channels, " << p.height << " x "
                           << p.width << ", kernel " << p.kernel << ", stride " << p.stride
                           << ", pad " << p.pad << ", dilation " << p.dilation;
    ASSERT_EQ(memory.back(), kUntouched);
  }
}

TEST(TransposedPlanes, OfEveryKernelAndStrideHaveTheBitsOfColumns) {
  for (std::int64_t kernel = 1; kernel <= 9; ++kernel) {
    for (std::int64_t stride = 1; stride <= 5; ++stride) {
      for (const std::int64_t pad : {std::int64_t{0}, kernel / 2, kernel - 1}) {
        for (std::int64_t more = 0; more < stride; more += 2)
          expect_same_bits({1, 1, 3, 1 + kernel % 4, 5, 9 + kernel, kernel, stride, pad, 1, more});
      }
    }
  }
}

TEST(TransposedPlanes, OfEveryWidthHaveTheBitsOfColumns) {
  for (std::int64_t width = 1; width <= 70; ++width) {
    expect_same_bits({1, 1, 2, 1, 3, width, 3, 2, 1, 1, 1}, 1);
    expect_same_bits({2, 2, 3, 5, 2, width, 4, 2, 1});
    expect_same_bits({1, 1, 2, 3, 2, width, 2, 3, 0});
  }
}

TEST(TransposedPlanes, OfStrideOneMayBeDilated) {
  for (std::int64_t dilation = 1; dilation <= 3; ++dilation)
    expect_same_bits({1, 1, 4, 3, 8, 21, 3, 1, dilation, dilation});
}

bool takes_planes(const Layer& p, bool turned) {
  const ConvGeometry g = geometry_of(p);
  return plan_transposed_planes(g, planes({p.batch, g.in_channels, p.height, p.width}),
                                planes(g.output_shape()), 16, turned)
      .has_value();
}

TEST(TransposedPlanes, AreTakenForFewOutputChannels) {
  EXPECT_TRUE(takes_planes({1, 1, 56, 1, 32, 32, 9, 3, 4, 1, 2}, true));
  EXPECT_TRUE(takes_planes({1, 1, 32, 3, 32, 32, 4, 2, 1}, true));
  EXPECT_TRUE(takes_planes({1, 1, 32, 1, 32, 32, 2, 2, 0}, true));
  EXPECT_FALSE(takes_planes({1, 1, 32, 16, 32, 32, 4, 2, 1}, true));
  EXPECT_FALSE(takes_planes({1, 1, 32, 1, 4, 4, 3, 2, 1, 2}, false));  // dilated
}

}  // namespace
}  // namespace etch
