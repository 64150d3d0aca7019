// RoiAlign: averages and maxima of known maps, and what is refused.
#include "compiler/ops/roi_align/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr float kInfinity = INFINITY;

// The map 0 1 2 3 / 4 5 6 7 and one box, in coordinates without the half pixel.
OneNode roi(const std::vector<float>& box, std::int64_t image = 0) {
  OneNode node("RoiAlign", "", 16);
  node.input(f32({1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})).input(f32({1, 4}, box));
  node.input(s64({1}, {image}));
  node.attribute("coordinate_transformation_mode", std::string("output_half_pixel"));
  return node;
}

float only(OneNode node) { return node.run().at(0).as<float>()[0]; }

TEST(RoiAlign, AveragesTheSamplesOfABin) {
  // Samples at rows 0.5 and columns 0.5, 1.5: 2.5 and 3.5.
  EXPECT_EQ(only(roi({0, 0, 2, 1})), 3.0F);
  EXPECT_EQ(roi({0, 0, 2, 1}).attribute("output_width", std::int64_t{2}).run().at(0),
            f32({1, 1, 1, 2}, {2.5F, 3.5F}));
}

TEST(RoiAlign, MaximaAreOfSingleProducts) {
  // One sample between four elements, each with a quarter: the largest is 6 / 4.
  OneNode node = roi({1, 0, 2, 1});
  EXPECT_EQ(only(node.attribute("mode", std::string("max"))), 1.5F);
}

TEST(RoiAlign, ABoxHasAtLeastTheSizeOfOneElement) { EXPECT_EQ(only(roi({1, 0, 1, 0})), 3.5F); }

TEST(RoiAlign, WithTheHalfPixelABoxMayHaveNoSize) {
  OneNode node("RoiAlign", "", 16);
  node.input(f32({1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})).input(f32({1, 4}, {1, 0, 1, 0}));
  EXPECT_EQ(only(node.input(s64({1}, {0}))), 0.0F);
}

TEST(RoiAlign, BoxesOutsideOfTheMapOrOfNoImageGiveZero) {
  EXPECT_EQ(only(roi({20, 20, 22, 22})), 0.0F);
  EXPECT_EQ(only(roi({0, 0, 2, 1}, 1)), 0.0F);
  EXPECT_EQ(only(roi({0, 0, 2, 1}, -1)), 0.0F);
}

TEST(RoiAlign, BoxesWithoutAnEndEnd) {
  EXPECT_EQ(only(roi({0, 0, kInfinity, 1})), 0.0F);
  EXPECT_EQ(only(roi({NAN, 0, 2, NAN})), 0.0F);
}

TEST(RoiAlign, RefusesShapesThatDoNotFit) {
  OneNode node("RoiAlign", "", 16);
  node.input(f32({1, 1, 2, 2}, {0, 1, 2, 3})).input(f32({1, 4}, {0, 0, 1, 1}));
  EXPECT_EQ(node.input(s64({2}, {0, 0})).errors(),
            "E-SHAPE: X of shape [1, 1, 2, 2], rois of shape [1, 4] and batch_indices of shape [2] "
            "do not fit [N, C, H, W], [n, 4] and [n]");
}

TEST(RoiAlign, RefusesWhatTheAttributesDoNotHave) {
  EXPECT_EQ(roi({0, 0, 1, 1}).attribute("mode", std::string("min")).errors(),
            "E-ATTR: must be max or avg, got 'min'");
  EXPECT_EQ(roi({0, 0, 1, 1}).attribute("sampling_ratio", std::int64_t{-1}).errors(),
            "E-ATTR: must be 0 to 1024, got -1");
}

}  // namespace
}  // namespace etch
