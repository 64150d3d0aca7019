// Resize with antialias: the specification's examples, filters at borders, bytes, and what is
// refused. ONNX Runtime's results are in tests/data/nodes/antialias.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/resize/op.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode smooth(Tensor x, const std::vector<float>& scales, const std::string& mode = "linear") {
  OneNode node("Resize", "", 19);
  const auto count = static_cast<std::int64_t>(scales.size());
  node.input(std::move(x)).omitted().constant(f32({count}, scales));
  node.attribute("mode", mode).attribute("antialias", std::int64_t{1});
  return node;
}

Tensor from_one(Shape shape) {
  Tensor out(DType::kF32, std::move(shape));
  float at = 0;
  for (float& each : out.as<float>()) each = ++at;
  return out;
}

void expect_near(const Tensor& y, const Tensor& expected) {
  ASSERT_EQ(y.shape(), expected.shape());
  for (std::size_t i = 0; i < expected.as<float>().size(); ++i)
    EXPECT_FLOAT_EQ(y.as<float>()[i], expected.as<float>()[i]);
}

TEST(Antialias, GivesTheResultsOfTheSpecification) {
  const Tensor x = from_one({1, 1, 4, 4});
  expect_near(smooth(x, {1, 1, 0.6F, 0.6F}).run().at(0),
              f32({1, 1, 2, 2}, {2.875F, 4.5F, 9.375F, 11}));
  expect_near(smooth(x, {1, 1, 0.6F, 0.6F}, "cubic").run().at(0),
              f32({1, 1, 2, 2}, {2.5180721F, 4.2858863F, 9.589329F, 11.357142F}));
  OneNode sized("Resize", "", 18);
  sized.input(x).omitted().omitted().constant(s64({2}, {3, 3}));
  sized.attribute("mode", std::string("linear")).attribute("antialias", std::int64_t{1});
  sized.attribute("axes", std::vector<std::int64_t>{2, -1});
  expect_near(sized.run().at(0),
              f32({1, 1, 3, 3}, {2.3636363F, 3.590909F, 4.818182F, 7.2727275F, 8.5F, 9.727273F,
                                 12.181818F, 13.409091F, 14.636364F}));
}

// The filter of what grows is as wide as without; what keeps its size is copied.
TEST(Antialias, DoesNotChangeWhatGrows) {
  EXPECT_EQ(smooth(from_one({2, 3}), {1, 2}).run().at(0),
            f32({2, 6}, {1, 1.25F, 1.75F, 2.25F, 2.75F, 3, 4, 4.25F, 4.75F, 5.25F, 5.75F, 6}));
}

TEST(Antialias, LooksAtNothingBesideItsFilter) {
  std::vector<float> x(16, 1.0F);
  x[15] = HUGE_VALF;
  EXPECT_EQ(smooth(f32({16}, x), {0.25F}).run().at(0), f32({4}, {1, 1, 1, HUGE_VALF}));
}

TEST(Antialias, AddsWhatIsOutsideToTheBorderOrLeavesItOut) {
  const Tensor x = f32({4}, {8, 16, 24, 32});
  EXPECT_EQ(smooth(x, {0.5F}).run().at(0), f32({2}, {13, 27}));
  OneNode cut = smooth(x, {0.5F});
  cut.attribute("exclude_outside", std::int64_t{1});
  expect_near(cut.run().at(0), f32({2}, {8 * 3 / 7.0F + 16 * 3 / 7.0F + 24 / 7.0F,
                                         16 / 7.0F + 24 * 3 / 7.0F + 32 * 3 / 7.0F}));
}

// Weights are rounded to parts of 2^22, sums to whole bytes, halves up; after each axis.
TEST(Antialias, RoundsBytesAfterEachAxis) {
  EXPECT_EQ(smooth(u8({4}, {0, 1, 2, 3}), {0.5F}).run().at(0), u8({2}, {1, 2}));
  EXPECT_EQ(smooth(u8({2, 2}, {0, 1, 0, 0}), {0.5F, 0.5F}).run().at(0), u8({1, 1}, {1}));
  EXPECT_EQ(smooth(u8({6}, {0, 0, 255, 255, 0, 0}), {2}, "cubic").run().at(0).integer(5), 255);
  EXPECT_EQ(smooth(u8({6}, {0, 0, 255, 255, 0, 0}), {2}, "cubic").run().at(0).integer(2), 0);
}

TEST(Antialias, ExtrapolatesOutsideOfTheRegion) {
  OneNode node("Resize", "", 19);
  node.input(f32({4}, {8, 16, 24, 32})).constant(f32({2}, {-0.5F, 1})).omitted();
  node.constant(s64({1}, {3}));
  node.attribute("coordinate_transformation_mode", std::string("tf_crop_and_resize"));
  node.attribute("mode", std::string("linear")).attribute("antialias", std::int64_t{1});
  node.attribute("extrapolation_value", 9.0F);
  const Tensor y = node.run().at(0);
  EXPECT_EQ(y.as<float>()[0], 9);
  EXPECT_NE(y.as<float>()[1], 9);
  EXPECT_NE(y.as<float>()[2], 9);
}

TEST(Antialias, SaysWhatItNeeds) {
  EXPECT_EQ(smooth(from_one({1, 2}), {1, 0.5F}, "nearest").errors(),
            "E-ATTR: needs mode linear or cubic, got 'nearest'");
  EXPECT_EQ(smooth(s8({1, 2}, {1, 2}), {1, 0.5F}).errors(),
            "E-TYPE: must be float32, uint8, got int8");
  OneNode steep = smooth(u8({1, 4}, {1, 2, 3, 4}), {1, 0.5F}, "cubic");
  steep.attribute("cubic_coeff_a", -50.0F);
  EXPECT_EQ(steep.errors(), "E-ATTR: -50 makes sums of bytes that need more than 32 bits");
  OneNode endless = smooth(from_one({1, 2}), {1, 0.5F}, "cubic");
  endless.attribute("cubic_coeff_a", HUGE_VALF);
  EXPECT_EQ(endless.errors(), "E-ATTR: must be finite");
}

// A filter over millions of inputs has as many weights, whatever the size of the output.
TEST(Antialias, RefusesTablesOfMoreWeightsThanTheLimits) {
  const auto averaged = [](std::int64_t count) {
    return smooth(Tensor(DType::kF32, {count}), {1.0F / static_cast<float>(count)});
  };
  EXPECT_EQ(averaged(1 << 16).errors(), "");
  EXPECT_EQ(averaged(1 << 20).errors().substr(0, 8), "E-LIMIT:");
}

}  // namespace
}  // namespace etch
