// Resize and Upsample: the examples of the specification, every form of the arguments, and one
// refusal per test.
#include "compiler/ops/resize/op.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

OneNode resize(Tensor x, const std::vector<float>& scales, const std::string& mode,
               const std::string& transform = "half_pixel", std::int64_t opset = 19) {
  OneNode node("Resize", "", opset);
  const auto count = static_cast<std::int64_t>(scales.size());
  node.input(std::move(x)).omitted().constant(f32({count}, scales));
  node.attribute("mode", mode).attribute("coordinate_transformation_mode", transform);
  return node;
}

OneNode to_sizes(Tensor x, const Ints& sizes, std::int64_t opset = 19) {
  OneNode node("Resize", "", opset);
  node.input(std::move(x)).omitted().omitted();
  node.constant(s64({static_cast<std::int64_t>(sizes.size())}, sizes));
  return node;
}

const Tensor kTwo = f32({1, 1, 2, 2}, {1, 2, 3, 4});

TEST(Resize, RepeatsTheNearestElement) {
  EXPECT_EQ(
      resize(kTwo, {1, 1, 2, 3}, "nearest").run().at(0),
      f32({1, 1, 4, 6}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}));
  EXPECT_EQ(resize(f32({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), {1, 1, 0.6F, 0.6F}, "nearest")
                .run()
                .at(0),
            f32({1, 1, 1, 2}, {1, 3}));
}

// Example resize_upsample_scales_linear of the specification.
TEST(Resize, InterpolatesBetweenPixels) {
  EXPECT_EQ(resize(kTwo, {1, 1, 2, 2}, "linear").run().at(0),
            f32({1, 1, 4, 4}, {1, 1.25F, 1.75F, 2, 1.5F, 1.75F, 2.25F, 2.5F, 2.5F, 2.75F, 3.25F,
                               3.5F, 3, 3.25F, 3.75F, 4}));
}

TEST(Resize, InterpolatesFromCornerToCorner) {
  EXPECT_EQ(resize(f32({1, 3}, {0, 10, 20}), {1, 1.7F}, "linear", "align_corners").run().at(0),
            f32({1, 5}, {0, 5, 10, 15, 20}));
}

TEST(Resize, TruncatesBytes) {
  EXPECT_EQ(resize(u8({1, 2}, {0, 255}), {1, 2}, "linear").run().at(0),
            u8({1, 4}, {0, 63, 191, 255}));
  EXPECT_EQ(resize(s8({1, 2}, {0, -127}), {1, 2}, "linear").run().at(0),
            s8({1, 4}, {0, -31, -95, -127}));
}

TEST(Resize, ExtrapolatesOutsideOfTheRegion) {
  OneNode node("Resize", "", 13);
  node.input(counting({4})).constant(f32({2}, {-0.5F, 1.5F})).omitted().constant(s64({1}, {5}));
  node.attribute("coordinate_transformation_mode", std::string("tf_crop_and_resize"));
  node.attribute("extrapolation_value", 9.0F);
  EXPECT_EQ(node.run().at(0), f32({5}, {9, 0, 1, 3, 9}));
}

TEST(Resize, CopiesWhenNoSizeChanges) {
  EXPECT_EQ(resize(kTwo, {1, 1, 1, 1.2F}, "linear", "align_corners").run().at(0), kTwo);
}

TEST(Resize, TakesSizes) {
  EXPECT_EQ(to_sizes(u8({2}, {1, 2}), {4}).run().at(0), u8({4}, {1, 1, 2, 2}));
}

TEST(Resize, TakesAxesAndKeepsTheAspectRatio) {
  OneNode larger = to_sizes(counting({1, 2, 4}), {7, 8});
  larger.attribute("axes", Ints{2, 1});
  larger.attribute("keep_aspect_ratio_policy", std::string("not_larger"));
  ASSERT_TRUE(larger.resolve());
  EXPECT_EQ(larger.output(0).shape, (Shape{1, 4, 7}));
  OneNode smaller = to_sizes(counting({1, 2, 4}), {7, 8});
  smaller.attribute("axes", Ints{2, 1});
  smaller.attribute("keep_aspect_ratio_policy", std::string("not_smaller"));
  ASSERT_TRUE(smaller.resolve());
  EXPECT_EQ(smaller.output(0).shape, (Shape{1, 8, 16}));
}

TEST(Resize, HasOlderForms) {
  OneNode seven("Upsample", "", 7);
  seven.input(u8({2}, {1, 2})).attribute("scales", std::vector<float>{2.5F});
  EXPECT_EQ(seven.run().at(0), u8({5}, {1, 1, 1, 2, 2}));
  OneNode nine("Upsample", "", 9);
  nine.input(u8({2}, {1, 2})).constant(f32({1}, {2}));
  EXPECT_EQ(nine.run().at(0), u8({4}, {1, 1, 2, 2}));
  OneNode ten("Resize", "", 10);
  ten.input(u8({5}, {1, 2, 3, 4, 5})).constant(f32({1}, {0.6F}));
  EXPECT_EQ(ten.run().at(0), u8({3}, {1, 3, 5}));
}

TEST(Resize, NeedsEitherScalesOrSizes) {
  OneNode none("Resize", "", 13);
  none.input(counting({2}));
  EXPECT_EQ(none.errors(), "E-GRAPH: scales are missing");
  OneNode both("Resize", "", 13);
  both.input(counting({2})).omitted().constant(f32({1}, {2})).constant(s64({1}, {4}));
  EXPECT_EQ(both.errors(), "E-GRAPH: has both scales and sizes");
}

TEST(Resize, RefusesScalesThatDoNotFit) {
  EXPECT_EQ(resize(kTwo, {2, 2}, "nearest").errors(),
            "E-SHAPE: scales must have 4 elements, got 2");
  EXPECT_EQ(resize(counting({2}), {-1}, "nearest").errors(),
            "E-SHAPE: scales: cannot scale 2 elements by -1");
  EXPECT_EQ(to_sizes(counting({2}), {0}).errors(), "E-SHAPE: sizes: cannot resize 2 elements to 0");
}

TEST(Resize, RefusesArgumentsKnownAtRunTime) {
  OneNode node("Resize", "", 13);
  node.input(counting({2})).omitted().input(f32({1}, {2}));
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: must be known at compile time");
}

TEST(Resize, RefusesModesThatItHasNot) {
  EXPECT_EQ(resize(kTwo, {1, 1, 2, 2}, "sinc").errors(),
            "E-ATTR: attribute 'mode' must be nearest, linear or cubic, got 'sinc'");
  EXPECT_EQ(resize(kTwo, {1, 1, 2, 2}, "nearest", "centred").errors(),
            "E-ATTR: is not known in operator set 19: "
            "'centred'");
  OneNode round = resize(kTwo, {1, 1, 2, 2}, "nearest");
  round.attribute("nearest_mode", std::string("up"));
  EXPECT_EQ(round.errors(), "E-ATTR: is not known: 'up'");
  OneNode policy = to_sizes(counting({2}), {4});
  policy.attribute("keep_aspect_ratio_policy", std::string("any"));
  EXPECT_EQ(policy.errors(), "E-ATTR: is not known: 'any'");
}

// The specification's example.
TEST(Resize, CubicWeighsFourNeighboursAlongEitherAxis) {
  std::vector<float> x(16);
  for (std::size_t i = 0; i < 16; ++i) x[i] = static_cast<float>(i + 1);
  const Tensor y = resize(f32({1, 1, 4, 4}, x), {1, 1, 2, 2}, "cubic").run().at(0);
  ASSERT_EQ(y.shape(), (Shape{1, 1, 8, 8}));
  const std::vector<float> first{0.47265625F, 0.76953125F, 1.24609375F, 1.875F,
                                 2.28125F,    2.91015625F, 3.38671875F, 3.68359375F};
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_FLOAT_EQ(y.as<float>()[i], first[i]) << i;
}

TEST(Resize, RefusesCubicModeOnOtherAxesAndTypes) {
  const char* const axes =
      "E-UNSUPPORTED: cubic mode needs rank 2, or rank 4 with two outer axes that keep their size";
  EXPECT_EQ(resize(counting({1, 2, 3}), {1, 2, 2}, "cubic").errors(), axes);
  EXPECT_EQ(resize(counting({1, 2, 3, 1}), {1, 2, 2, 1}, "cubic").errors(), axes);
  EXPECT_EQ(resize(s8({1, 2}, {0, 1}), {1, 2}, "cubic").errors(),
            "E-TYPE: must be float32, got int8");
}

TEST(Resize, RefusesLinearModeOnOtherAxes) {
  EXPECT_EQ(resize(kTwo, {2, 2, 2, 2}, "linear").errors(),
            "E-UNSUPPORTED: linear mode needs rank 2 or 3, or rank 4 or 5 with a batch and a "
            "channel axis that keep their size");
  EXPECT_EQ(resize(s32({1, 2}, {0, 1}), {1, 2}, "linear").errors(),
            "E-TYPE: must be float32, uint8, int8, got int32");
}

TEST(Resize, CropNeedsARegionAndAValueOfTheType) {
  EXPECT_EQ(resize(counting({2}), {2}, "nearest", "tf_crop_and_resize").errors(),
            "E-GRAPH: tf_crop_and_resize needs roi");
  OneNode node("Resize", "", 13);
  node.input(u8({2}, {1, 2})).constant(f32({2}, {0, 1})).constant(f32({1}, {2}));
  node.attribute("coordinate_transformation_mode", std::string("tf_crop_and_resize"));
  node.attribute("extrapolation_value", -3.0F);
  EXPECT_EQ(node.errors(), "E-ATTR: is no uint8: -3");
}

TEST(ResizeRefusals, OfHugeSizesComeBeforeTheirPositionsAreListed) {
  EXPECT_EQ(to_sizes(f32({1}, {1.0F}), {std::int64_t{1} << 28}).errors().substr(0, 7), "E-LIMIT");
}

}  // namespace
}  // namespace etch
