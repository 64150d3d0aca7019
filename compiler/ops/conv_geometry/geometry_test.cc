// Shape rules of convolutions (docs/spec/shapes.md sections 4.1 to 4.3), through Conv and
// ConvTranspose nodes: every rule, and every refusal with its message.
#include "compiler/ops/conv_geometry/geometry.h"

#include <gtest/gtest.h>

#include <limits>

#include "compiler/ops/conv/op.h"
#include "compiler/ops/conv_transpose/op.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

OneNode forward(Shape x, Shape w) {
  OneNode node("Conv");
  node.input(Tensor(DType::kF32, std::move(x))).input(Tensor(DType::kF32, std::move(w)));
  return node;
}

OneNode transposed(Shape x, Shape w) {
  OneNode node("ConvTranspose");
  node.input(Tensor(DType::kF32, std::move(x))).input(Tensor(DType::kF32, std::move(w)));
  return node;
}

// The geometry of a 1-D convolution's only axis.
ConvAxis forward_axis(OneNode node) {
  EXPECT_TRUE(node.resolve());
  return params_of<ConvParams>(node.node()).geometry.axes.at(0);
}

ConvAxis transposed_axis(OneNode node) {
  EXPECT_TRUE(node.resolve());
  return params_of<ConvTransposeParams>(node.node()).geometry.axes.at(0);
}

TEST(ConvGeometry, DefaultsAreUnitStridesAndNoPadding) {
  OneNode node = forward({2, 3, 5, 6}, {4, 3, 2, 3});
  ASSERT_TRUE(node.resolve());
  const ConvGeometry& g = params_of<ConvParams>(node.node()).geometry;
  EXPECT_EQ(g.batch, 2);
  EXPECT_EQ(g.in_channels, 3);
  EXPECT_EQ(g.out_channels, 4);
  EXPECT_EQ(g.group, 1);
  EXPECT_EQ(g.axes, (std::vector<ConvAxis>{{5, 2, 1, 1, 0, 0, 4}, {6, 3, 1, 1, 0, 0, 4}}));
  EXPECT_EQ(node.output(0).shape, (Shape{2, 4, 4, 4}));
}

TEST(ConvGeometry, EveryAxisHasItsOwnNumbers) {
  OneNode node = forward({1, 1, 9, 20}, {1, 1, 2, 3});
  node.attribute("strides", Ints{2, 3}).attribute("dilations", Ints{4, 5});
  node.attribute("pads", Ints{0, 1, 2, 3});
  ASSERT_TRUE(node.resolve());
  EXPECT_EQ(params_of<ConvParams>(node.node()).geometry.axes,
            (std::vector<ConvAxis>{{9, 2, 2, 4, 0, 2, 4}, {20, 3, 3, 5, 1, 3, 5}}));
}

TEST(ConvGeometry, AKernelThatJustFitsHasOnePosition) {
  EXPECT_EQ(forward_axis(forward({1, 1, 3}, {1, 1, 3})), (ConvAxis{3, 3, 1, 1, 0, 0, 1}));
}

TEST(ConvGeometry, OutputSizeRoundsDown) {
  OneNode node = forward({1, 1, 8}, {1, 1, 3});
  node.attribute("strides", Ints{3}).attribute("pads", Ints{1, 0}).attribute("dilations", Ints{2});
  EXPECT_EQ(forward_axis(std::move(node)), (ConvAxis{8, 3, 3, 2, 1, 0, 2}));
}

TEST(ConvGeometry, SameUpperPutsOddPaddingAtTheEnd) {
  OneNode node = forward({1, 1, 5}, {1, 1, 2});
  node.attribute("auto_pad", "SAME_UPPER");
  EXPECT_EQ(forward_axis(std::move(node)), (ConvAxis{5, 2, 1, 1, 0, 1, 5}));
}

TEST(ConvGeometry, SameLowerPutsOddPaddingInFront) {
  OneNode node = forward({1, 1, 5}, {1, 1, 2});
  node.attribute("auto_pad", "SAME_LOWER");
  EXPECT_EQ(forward_axis(std::move(node)), (ConvAxis{5, 2, 1, 1, 1, 0, 5}));
}

TEST(ConvGeometry, SameCountsTheDilatedKernel) {
  OneNode node = forward({1, 1, 7}, {1, 1, 3});
  node.attribute("auto_pad", "SAME_UPPER").attribute("dilations", Ints{2});
  EXPECT_EQ(forward_axis(std::move(node)), (ConvAxis{7, 3, 1, 2, 2, 2, 7}));
}

TEST(ConvGeometry, SameWithAStrideDividesTheInputRoundingUp) {
  OneNode odd = forward({1, 1, 7}, {1, 1, 3});
  odd.attribute("auto_pad", "SAME_UPPER").attribute("strides", Ints{2});
  EXPECT_EQ(forward_axis(std::move(odd)), (ConvAxis{7, 3, 2, 1, 1, 1, 4}));
  OneNode even = forward({1, 1, 8}, {1, 1, 3});
  even.attribute("auto_pad", "SAME_UPPER").attribute("strides", Ints{2});
  EXPECT_EQ(forward_axis(std::move(even)), (ConvAxis{8, 3, 2, 1, 0, 1, 4}));
}

TEST(ConvGeometry, SameNeverCrops) {
  OneNode node = forward({1, 1, 8}, {1, 1, 1});
  node.attribute("auto_pad", "SAME_UPPER").attribute("strides", Ints{4});
  EXPECT_EQ(forward_axis(std::move(node)), (ConvAxis{8, 1, 4, 1, 0, 0, 2}));
}

TEST(ConvGeometry, ValidPadsNothingAndToleratesZeroPads) {
  OneNode node = forward({1, 1, 8}, {1, 1, 3});
  node.attribute("auto_pad", "VALID").attribute("pads", Ints{0, 0});
  ASSERT_TRUE(node.resolve());
  EXPECT_EQ(node.output(0).shape, (Shape{1, 1, 6}));
  EXPECT_EQ(node.warnings(), "E-ATTR: attribute 'pads' is redundant beside auto_pad VALID");
}

TEST(ConvGeometry, PaddingMayExceedTheKernelAndTheInput) {
  OneNode node = forward({1, 1, 1}, {1, 1, 3});
  node.attribute("pads", Ints{4, 4});
  EXPECT_EQ(forward_axis(std::move(node)), (ConvAxis{1, 3, 1, 1, 4, 4, 7}));
}

TEST(ConvGeometry, GroupsDivideBothChannelCounts) {
  OneNode node = forward({1, 6, 4}, {9, 2, 1});
  node.attribute("group", std::int64_t{3});
  ASSERT_TRUE(node.resolve());
  const ConvGeometry& g = params_of<ConvParams>(node.node()).geometry;
  EXPECT_EQ(g.in_per_group(), 2);
  EXPECT_EQ(g.out_per_group(), 3);
}

TEST(ConvGeometry, AnEmptyBatchGivesAnEmptyOutput) {
  OneNode node = forward({0, 1, 4}, {1, 1, 1});
  ASSERT_TRUE(node.resolve());
  EXPECT_EQ(node.output(0).shape, (Shape{0, 1, 4}));
}

TEST(ConvGeometry, ThreeSpatialAxesAreTheMost) {
  EXPECT_EQ(forward({1, 1, 2, 2, 2}, {1, 1, 1, 1, 1}).errors(), "");
  EXPECT_EQ(forward({1, 1, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1}).errors(),
            "E-UNSUPPORTED: more than 3 spatial dimensions are not supported, got x "
            "[1, 1, 2, 2, 2, 2]");
}

TEST(ConvGeometry, RanksMustAgree) {
  EXPECT_EQ(forward({1, 1, 2, 2}, {1, 1, 1}).errors(),
            "E-SHAPE: x and w must have the same rank of at least 3, got [1, 1, 2, 2] and "
            "[1, 1, 1]");
  EXPECT_EQ(forward({1, 1}, {1, 1}).errors(),
            "E-SHAPE: x and w must have the same rank of at least 3, got [1, 1] and [1, 1]");
  EXPECT_EQ(forward({3}, {3}).errors(),
            "E-SHAPE: x and w must have the same rank of at least 3, got [3] and [3]");
}

TEST(ConvGeometry, EmptyWeightsAreRefused) {
  EXPECT_EQ(forward({1, 1, 2}, {0, 1, 1}).errors(), "E-SHAPE: w must not be empty, got [0, 1, 1]");
  EXPECT_EQ(forward({1, 1, 2}, {1, 1, 0}).errors(), "E-SHAPE: w must not be empty, got [1, 1, 0]");
}

std::string errors_with(const char* name, Attribute value) {
  OneNode node = forward({1, 2, 5, 5}, {4, 2, 3, 3});
  node.attribute(name, std::move(value));
  return node.errors();
}

TEST(ConvGeometry, BadStridesAndDilationsAreRefused) {
  EXPECT_EQ(errors_with("strides", Ints{0, 1}), "E-ATTR: must be >= 1, got 0");
  EXPECT_EQ(errors_with("strides", Ints{2}), "E-ATTR: must have 2 entries, got 1");
  EXPECT_EQ(errors_with("dilations", Ints{-1, 1}), "E-ATTR: must be >= 1, got -1");
  EXPECT_EQ(errors_with("dilations", Ints{1, 1, 1}), "E-ATTR: must have 2 entries, got 3");
  EXPECT_EQ(errors_with("dilations", Ints{kHuge, 1}),
            "E-ATTR: is out of range, got 9223372036854775807");
}

// What is computed with it later still has to fit.
TEST(ConvGeometry, AHugeStrideIsLegalAndCutToWhatIsBeyondAllPositions) {
  OneNode node = forward({1, 1, 5}, {1, 1, 3});
  node.attribute("strides", Ints{kHuge});
  const ConvAxis axis = forward_axis(std::move(node));
  EXPECT_EQ(axis.out, 1);
  EXPECT_EQ(axis.stride, std::int64_t{1} << 30);
}

TEST(ConvGeometry, AHugeDilationOfASingleTapIsCutToo) {
  OneNode node = forward({1, 1, 5}, {1, 1, 1});
  node.attribute("dilations", Ints{kHuge});
  const ConvAxis axis = forward_axis(std::move(node));
  EXPECT_EQ(axis.out, 5);
  EXPECT_EQ(axis.dilation, std::int64_t{1} << 30);
}

TEST(ConvGeometry, PadsThatAHugeStrideSkipsAreRefused) {
  OneNode node = forward({1, 1, 5}, {1, 1, 3});
  node.attribute("strides", Ints{kHuge}).attribute("pads", Ints{std::int64_t{1} << 29, 0});
  EXPECT_EQ(node.errors(), "E-ATTR: are out of range");
}

TEST(ConvGeometry, BadPadsAreRefused) {
  EXPECT_EQ(errors_with("pads", Ints{1, 1}), "E-ATTR: must have 4 entries, got 2");
  EXPECT_EQ(errors_with("pads", Ints{-1, 0, 0, 0}), "E-ATTR: must be >= 0, got -1");
  EXPECT_EQ(errors_with("pads", Ints{kHuge, 0, kHuge, 0}), "E-ATTR: are out of range");
  EXPECT_EQ(errors_with("pads", Ints{0, 0, 0, (1 << 28) + 1}), "E-ATTR: are out of range");
  EXPECT_NE(errors_with("pads", Ints{100000, 100000, 100000, 100000}).find("E-LIMIT"),
            std::string::npos);
}

TEST(ConvGeometry, AutoPadIsOneOfFour) {
  EXPECT_EQ(errors_with("auto_pad", "SAME"),
            "E-ATTR: must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, got 'SAME'");
}

TEST(ConvGeometry, AutoPadExcludesPads) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    OneNode node = forward({1, 1, 5}, {1, 1, 3});
    node.attribute("auto_pad", mode).attribute("pads", Ints{0, 0});
    EXPECT_EQ(node.errors(), "E-ATTR: must be NOTSET when pads is given");
  }
  OneNode node = forward({1, 1, 5}, {1, 1, 3});
  node.attribute("auto_pad", "VALID").attribute("pads", Ints{1, 1});
  EXPECT_EQ(node.errors(), "E-ATTR: must be NOTSET when pads is given");
}

TEST(ConvGeometry, KernelShapeMustBeTheWeights) {
  EXPECT_EQ(errors_with("kernel_shape", Ints{3, 3}), "");
  EXPECT_EQ(errors_with("kernel_shape", Ints{5, 5}),
            "E-ATTR: must equal the weights' [3, 3], got [5, 5]");
}

TEST(ConvGeometry, BadGroupsAreRefused) {
  for (const std::int64_t group : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 62}) {
    EXPECT_NE(errors_with("group", group).find("E-ATTR: must be >= 1 and at most"),
              std::string::npos);
  }
  EXPECT_EQ(errors_with("group", std::int64_t{2}),
            "E-SHAPE: x has 2 channels, the weights with 2 groups take 4");
  OneNode node = forward({1, 4, 5}, {3, 2, 1});
  node.attribute("group", std::int64_t{2});
  EXPECT_EQ(node.errors(), "E-ATTR: must divide the 3 output channels, got 2");
}

TEST(ConvGeometry, TheKernelMustFit) {
  EXPECT_EQ(forward({1, 1, 2}, {1, 1, 3}).errors(),
            "E-SHAPE: the kernel spans 3 positions, more than the input's 2 with pads 0 and 0");
}

TEST(ConvGeometry, BiasHasOneEntryPerChannel) {
  OneNode wrong_shape = forward({1, 1, 2}, {3, 1, 1});
  EXPECT_EQ(wrong_shape.input(Tensor(DType::kF32, {3, 1})).errors(),
            "E-SHAPE: must be [3], got [3, 1]");
  OneNode wrong_type = forward({1, 1, 2}, {3, 1, 1});
  EXPECT_EQ(wrong_type.input(Tensor(DType::kS32, {3})).errors(),
            "E-TYPE: must be float32, got int32");
}

TEST(TransposedGeometry, FullSizeIsStrideTimesInputPlusKernel) {
  OneNode node = transposed({1, 2, 5}, {2, 3, 3});
  node.attribute("strides", Ints{2}).attribute("dilations", Ints{2});
  EXPECT_EQ(transposed_axis(std::move(node)), (ConvAxis{5, 3, 2, 2, 0, 0, 13}));
}

TEST(TransposedGeometry, PadsCropAndOutputPaddingExtendsTheEnd) {
  OneNode node = transposed({1, 1, 5}, {1, 1, 3});
  node.attribute("strides", Ints{2}).attribute("pads", Ints{1, 1});
  node.attribute("output_padding", Ints{1});
  EXPECT_EQ(transposed_axis(std::move(node)), (ConvAxis{5, 3, 2, 1, 1, 1, 10}));
}

TEST(TransposedGeometry, ChannelsCountGroupsTimesTheInnerWeights) {
  OneNode node = transposed({1, 6, 4}, {6, 2, 1});
  node.attribute("group", std::int64_t{3});
  ASSERT_TRUE(node.resolve());
  EXPECT_EQ(node.output(0).shape, (Shape{1, 6, 4}));
  EXPECT_EQ(params_of<ConvTransposeParams>(node.node()).geometry.in_per_group(), 2);
}

TEST(TransposedGeometry, OutputShapePutsTheBiggerCropInFront) {
  OneNode node = transposed({1, 1, 5}, {1, 1, 4});  // full size 12
  node.attribute("strides", Ints{2}).attribute("output_shape", Ints{9});
  EXPECT_EQ(transposed_axis(std::move(node)), (ConvAxis{5, 4, 2, 1, 2, 1, 9}));
}

TEST(TransposedGeometry, OutputShapeWithSameUpperPutsTheBiggerCropAtTheEnd) {
  OneNode node = transposed({1, 1, 5}, {1, 1, 4});
  node.attribute("strides", Ints{2}).attribute("output_shape", Ints{9});
  node.attribute("auto_pad", "SAME_UPPER");
  EXPECT_EQ(transposed_axis(std::move(node)), (ConvAxis{5, 4, 2, 1, 1, 2, 9}));
}

TEST(TransposedGeometry, OutputShapeMayListBatchAndChannels) {
  OneNode node = transposed({1, 1, 5}, {1, 1, 4});
  node.attribute("strides", Ints{2}).attribute("output_shape", Ints{1, 1, 9});
  EXPECT_EQ(transposed_axis(std::move(node)).out, 9);
}

TEST(TransposedGeometry, OutputShapeMayExceedTheFullSizeByLessThanAStride) {
  OneNode fits = transposed({1, 1, 3}, {1, 1, 3});  // full size 9
  fits.attribute("strides", Ints{3}).attribute("output_shape", Ints{11});
  EXPECT_EQ(transposed_axis(std::move(fits)), (ConvAxis{3, 3, 3, 1, 0, 0, 11}));
  OneNode exceeds = transposed({1, 1, 3}, {1, 1, 3});
  exceeds.attribute("strides", Ints{3}).attribute("output_shape", Ints{12});
  EXPECT_EQ(exceeds.errors(), "E-ATTR: must be less than 9 + stride 3, got 12");
}

TEST(TransposedGeometry, SameMakesInputTimesStride) {
  OneNode upper = transposed({1, 1, 4}, {1, 1, 3});  // full size 9
  upper.attribute("strides", Ints{2}).attribute("auto_pad", "SAME_UPPER");
  EXPECT_EQ(transposed_axis(std::move(upper)), (ConvAxis{4, 3, 2, 1, 0, 1, 8}));
  OneNode lower = transposed({1, 1, 4}, {1, 1, 3});
  lower.attribute("strides", Ints{2}).attribute("auto_pad", "SAME_LOWER");
  EXPECT_EQ(transposed_axis(std::move(lower)), (ConvAxis{4, 3, 2, 1, 1, 0, 8}));
}

TEST(TransposedGeometry, SameStopsAtTheFullSize) {
  OneNode node = transposed({1, 1, 4}, {1, 1, 1});  // full size 10, target 12
  node.attribute("strides", Ints{3}).attribute("auto_pad", "SAME_UPPER");
  EXPECT_EQ(transposed_axis(std::move(node)), (ConvAxis{4, 1, 3, 1, 0, 0, 10}));
}

TEST(TransposedGeometry, SameCountsOutputPaddingInTheCrop) {
  OneNode node = transposed({1, 1, 4}, {1, 1, 3});
  node.attribute("strides", Ints{2}).attribute("auto_pad", "SAME_UPPER");
  node.attribute("output_padding", Ints{1});
  EXPECT_EQ(transposed_axis(std::move(node)), (ConvAxis{4, 3, 2, 1, 1, 1, 8}));
}

std::string transposed_errors_with(const char* name, Attribute value) {
  OneNode node = transposed({1, 2, 5, 5}, {2, 3, 3, 3});
  node.attribute("strides", Ints{2, 2}).attribute(name, std::move(value));
  return node.errors();
}

TEST(TransposedGeometry, BadOutputPaddingIsRefused) {
  EXPECT_EQ(transposed_errors_with("output_padding", Ints{2, 0}),
            "E-ATTR: must be less than the stride 2 or dilation 1, got 2");
  EXPECT_EQ(transposed_errors_with("output_padding", Ints{-1, 0}), "E-ATTR: must be >= 0, got -1");
  EXPECT_EQ(transposed_errors_with("output_padding", Ints{1}),
            "E-ATTR: must have 2 entries, got 1");
}

TEST(TransposedGeometry, BadOutputShapesAreRefused) {
  EXPECT_EQ(transposed_errors_with("output_shape", Ints{-4, 8}), "E-ATTR: must be >= 1, got -4");
  EXPECT_EQ(transposed_errors_with("output_shape", Ints{8}), "E-ATTR: must have 2 entries, got 1");
  EXPECT_EQ(transposed_errors_with("output_shape", Ints{1000, 11}),
            "E-ATTR: must be less than 11 + stride 2, got 1000");
}

TEST(TransposedGeometry, PadsMustLeaveSomething) {
  EXPECT_EQ(transposed_errors_with("pads", Ints{6, 0, 5, 0}),
            "E-SHAPE: pads 6 and 5 leave nothing of the 11 output positions");
  EXPECT_EQ(transposed_errors_with("pads", Ints{kHuge, 0, kHuge, 0}), "E-ATTR: are out of range");
}

TEST(TransposedGeometry, AutoPadExcludesPads) {
  OneNode node = transposed({1, 1, 5}, {1, 1, 3});
  node.attribute("auto_pad", "VALID").attribute("pads", Ints{0, 0});
  EXPECT_EQ(node.errors(), "E-ATTR: must be NOTSET when pads is given");
}

TEST(TransposedGeometry, SizesThatOverflowAreRefused) {
  EXPECT_EQ(transposed_errors_with("strides", Ints{kHuge, 1}),
            "E-ATTR: make the output size overflow");
  OneNode cropped = transposed({1, 1, 2}, {1, 1, 1});  // to less than the limit of elements
  cropped.attribute("strides", Ints{std::int64_t{1} << 40}).attribute("output_shape", Ints{4});
  EXPECT_EQ(cropped.errors(), "E-ATTR: make the output size overflow");
}

TEST(TransposedGeometry, ChannelsMustFit) {
  EXPECT_EQ(transposed({1, 3, 5}, {2, 1, 1}).errors(),
            "E-SHAPE: x has 3 channels, the weights with 1 groups take 2");
  OneNode node = transposed({1, 3, 5}, {3, 1, 1});
  node.attribute("group", std::int64_t{2});
  EXPECT_EQ(node.errors(), "E-ATTR: must divide the 3 input channels, got 2");
}

TEST(TransposedGeometry, AnEmptyInputIsRefused) {
  EXPECT_EQ(transposed({1, 1, 0}, {1, 1, 3}).errors(), "E-SHAPE: x must not be empty");
}

}  // namespace
}  // namespace etch
