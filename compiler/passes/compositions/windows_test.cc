// The same as compositions_test.cc of operators on images: windows, unpooling, samples between
// pixels, crops.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Compositions, WindowsOfLpPoolAndMaxPool) {
  OneOperator pool("LpPool", 18);
  pool.input(f32({1, 1, 3}, {3, 4, 12})).attribute("kernel_shape", Ints{2});
  EXPECT_EQ(pool.output(), f32({1, 1, 2}, {5, std::sqrt(160.0F)}));
  OneOperator largest("MaxPool", 12);
  largest.input(f32({1, 2, 3}, {1, 5, 5, 4, -1, 0})).attribute("kernel_shape", Ints{2});
  const auto both = largest.attribute("pads", Ints{1, 0}).outputs(2);
  EXPECT_EQ(both.at(0), f32({1, 2, 3}, {1, 5, 5, 4, 4, 0}));
  EXPECT_EQ(both.at(1), s64({1, 2, 3}, {0, 1, 1, 3, 3, 5}));
  // At the end, where another place than the first one loses against the padding.
  OneOperator late("MaxPool", 12);
  late.input(f32({1, 2, 3}, {1, 5, 5, 4, -1, 0})).attribute("kernel_shape", Ints{2});
  EXPECT_EQ(late.attribute("pads", Ints{0, 1}).outputs(2).at(1),
            s64({1, 2, 3}, {1, 1, 2, 3, 5, 5}));
}

TEST(Compositions, MaxUnpoolAndCol2ImWriteIntoZeros) {
  OneOperator unpool("MaxUnpool", 13);
  unpool.input(f32({1, 1, 2}, {5, 6})).input(s64({1, 1, 2}, {1, 2}));
  unpool.attribute("kernel_shape", Ints{2}).attribute("strides", Ints{2});
  EXPECT_EQ(unpool.output(), f32({1, 1, 4}, {0, 5, 6, 0}));
  OneOperator columns("Col2Im", 18);
  columns.input(f32({1, 2, 2}, {1, 2, 3, 4})).constant(s64({1}, {3})).constant(s64({1}, {2}));
  EXPECT_EQ(columns.output(), f32({1, 1, 3}, {1, 5, 4}));
}

TEST(Compositions, GridSampleInterpolatesAndPads) {
  const Tensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor grid = f32({1, 1, 3, 2}, {0, 0, -0.5F, -0.5F, 1, 1});
  OneOperator node("GridSample", 16);
  EXPECT_EQ(node.input(x).input(grid).output(), f32({1, 1, 1, 3}, {2.5F, 1, 1}));
  OneOperator border("GridSample", 16);
  border.input(x).input(grid).attribute("padding_mode", std::string("border"));
  EXPECT_EQ(border.output(), f32({1, 1, 1, 3}, {2.5F, 1, 4}));
  OneOperator near("GridSample", 16);
  near.input(x).input(grid).attribute("mode", std::string("nearest"));
  EXPECT_EQ(near.attribute("align_corners", std::int64_t{1}).output(),
            f32({1, 1, 1, 3}, {1, 1, 4}));
}

// The example of ONNX: the first tap of the first place half a row lower, the third tap of the
// second place a bit higher, where X = 0 ... 8 and all weights are 1.
TEST(Compositions, DeformConvSamplesBesideTheGrid) {
  Tensor offset(DType::kF32, {1, 8, 2, 2});
  offset.as<float>()[0] = 0.5F;
  offset.as<float>()[5 * 4 + 1] = -0.125F;
  const Tensor ones = f32({1, 1, 2, 2}, {1, 1, 1, 1});
  OneOperator node("DeformConv", 19);
  EXPECT_EQ(node.input(counting({1, 1, 3, 3})).constant(ones).input(offset).output(),
            f32({1, 1, 2, 2}, {9.5F, 11.875F, 20, 24}));
  // One image of two channels in two groups of offsets and of weights: outside of X is 0.
  OneOperator far("DeformConv", 19);
  Tensor shift(DType::kF32, {1, 4, 1, 2});
  shift.as<float>()[0] = -0.5F;  // group 0, row of place 0
  shift.as<float>()[7] = 3;      // group 1, column of place 1
  far.input(f32({1, 2, 1, 2}, {4, 6, 8, 10})).constant(f32({2, 1, 1, 1}, {1, 2})).input(shift);
  far.constant(f32({2}, {1, 0})).input(f32({1, 2, 1, 2}, {1, 1, 0.5F, 1}));
  far.attribute("group", std::int64_t{2}).attribute("offset_group", std::int64_t{2});
  EXPECT_EQ(far.output(), f32({1, 2, 1, 2}, {3, 7, 8, 0}));
  OneOperator wrong("DeformConv", 19);
  wrong.input(counting({1, 1, 3, 3})).constant(ones).input(shift);
  EXPECT_EQ(wrong.errors(),
            "model: error[E-SHAPE]: node #0 (DeformConv): input 2 must have the shape [1, 8, 2, 2] "
            "(-1: any size), has [1, 4, 1, 2]\n");
}

TEST(Compositions, CropOrPadAroundTheCentre) {
  OneOperator node("CenterCropPad", 18);
  node.input(counting({3, 2})).constant(s64({2}, {1, 4}));
  EXPECT_EQ(node.output(), f32({1, 4}, {0, 2, 3, 0}));
}

TEST(Compositions, PaddingOfWindowsThatKeepTheSize) {
  for (const bool upper : {true, false}) {
    OneOperator pool("LpPool", 18);
    pool.input(f32({1, 1, 3}, {1, 2, 3})).attribute("kernel_shape", Ints{2});
    pool.attribute("p", std::int64_t{1});
    pool.attribute("auto_pad", std::string(upper ? "SAME_UPPER" : "SAME_LOWER"));
    EXPECT_EQ(pool.output(), upper ? f32({1, 1, 3}, {3, 5, 3}) : f32({1, 1, 3}, {1, 3, 5}));
  }
}

TEST(Compositions, RefuseWindowsThatDoNotFit) {
  OneOperator axes("LpPool", 18);
  axes.input(f32({1, 1, 3}, {1, 2, 3})).attribute("kernel_shape", Ints{2, 2});
  EXPECT_TRUE(says(axes, "must be those of 3 - 2 axes"));
  OneOperator large("LpPool", 18);
  large.input(f32({1, 1, 3}, {1, 2, 3})).attribute("kernel_shape", Ints{5});
  EXPECT_TRUE(says(large, "a window is larger than the padded input"));
}

TEST(Compositions, MaxPoolCountsColumnsFirstIfAsked) {
  OneOperator pool("MaxPool", 12);
  pool.input(f32({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6})).attribute("kernel_shape", Ints{2, 2});
  pool.attribute("storage_order", std::int64_t{1});
  const std::vector<Tensor> both = pool.outputs(2);
  EXPECT_EQ(both[0], f32({1, 1, 1, 2}, {5, 6}));
  EXPECT_EQ(both[1], Tensor::of<std::int64_t>({1, 1, 1, 2}, {3, 5}));
}

// Positions of pixels themselves, in units of the image from -1 to 1; then one beyond the last.
TEST(Compositions, GridSampleInCubesAndReflected) {
  const Tensor image = f32({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  OneOperator cubic("GridSample", 20);
  cubic.input(image).input(f32({1, 1, 3, 2}, {-1, -1, 0, 0, 1, 0}));
  cubic.attribute("mode", std::string("cubic")).attribute("align_corners", std::int64_t{1});
  EXPECT_EQ(cubic.output(), f32({1, 1, 1, 3}, {0, 4, 5}));
  OneOperator reflected("GridSample", 20);
  reflected.input(image).input(f32({1, 1, 2, 2}, {2, -1, -1, 2}));
  reflected.attribute("mode", std::string("nearest"));
  reflected.attribute("align_corners", std::int64_t{1});
  reflected.attribute("padding_mode", std::string("reflection"));
  EXPECT_EQ(reflected.output(), f32({1, 1, 1, 2}, {1, 3}));
}

TEST(Compositions, GridSampleRefusesWhatItDoesNotKnow) {
  const auto with = [](const char* name, const char* value) {
    OneOperator out("GridSample", 20);
    out.input(f32({1, 1, 1, 1}, {0})).input(f32({1, 1, 1, 2}, {0, 0}));
    out.attribute(name, std::string(value));
    return out;
  };
  OneOperator mode = with("mode", "median"), padding = with("padding_mode", "ones");
  EXPECT_TRUE(says(mode, "mode: must be linear, cubic or nearest"));
  EXPECT_TRUE(says(padding, "padding_mode: must be zeros, border or reflection"));
  OneOperator other("GridSample", 20);
  other.input(f32({1, 1, 1, 1}, {0})).input(f32({1, 1, 1, 3}, {0, 0, 0}));
  EXPECT_TRUE(says(other, "does not fit an input of shape"));
}

}  // namespace
}  // namespace etch
