// DynamicQuantizeLinear: the published examples, constant inputs, refusals.
#include "compiler/ops/dynamic_quantize_linear/op.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "compiler/ops/reference_math.h"
#include "tests/support/one_node.h"

namespace etch {
namespace {

std::vector<Tensor> quantize(const std::vector<float>& x) {
  OneNode node("DynamicQuantizeLinear");
  const auto count = static_cast<std::int64_t>(x.size());
  return node.input(Tensor::of<float>({count}, x)).outputs(3).run();
}

TEST(DynamicQuantizeLinear, CoversTheRangeOfTheInput) {
  const std::vector<Tensor> out = quantize({0, 2, -3, -2.5F, 1.34F, 0.5F});
  EXPECT_EQ(out.at(0), narrowed(DType::kU8, {6}, {153, 255, 0, 26, 221, 179}));
  EXPECT_EQ(out.at(1), Tensor::of<float>({}, {5.0F / 255.0F}));
  EXPECT_EQ(out.at(2), narrowed(DType::kU8, {}, {153}));
}

TEST(DynamicQuantizeLinear, TheRangeAlwaysHoldsZero) {
  const std::vector<Tensor> out = quantize({2, 4});
  EXPECT_EQ(out.at(1), Tensor::of<float>({}, {4.0F / 255.0F}));
  EXPECT_EQ(out.at(2), narrowed(DType::kU8, {}, {0}));
  EXPECT_EQ(quantize({-2, -4}).at(2), narrowed(DType::kU8, {}, {255}));
}

// 0 / 0 is the least integer, not the zero point; see fold_pad.h.
TEST(DynamicQuantizeLinear, TheSmallestRangesHaveScaleZero) {
  const std::vector<Tensor> out = quantize({-1e-44F, 0});
  EXPECT_EQ(out.at(0), narrowed(DType::kU8, {2}, {0, 0}));
  EXPECT_EQ(out.at(1), Tensor::of<float>({}, {0}));
  EXPECT_EQ(out.at(2), narrowed(DType::kU8, {}, {255}));
}

TEST(DynamicQuantizeLinear, AllZeroInputHasScaleOne) {
  const std::vector<Tensor> out = quantize({0, 0});
  EXPECT_EQ(out.at(0), narrowed(DType::kU8, {2}, {0, 0}));
  EXPECT_EQ(out.at(1), Tensor::of<float>({}, {1}));
  EXPECT_EQ(out.at(2), narrowed(DType::kU8, {}, {0}));
}

TEST(DynamicQuantizeLinear, OtherTypesAreRefused) {
  OneNode node("DynamicQuantizeLinear");
  EXPECT_EQ(node.input(Tensor(DType::kF16, {1})).outputs(3).errors(),
            "E-TYPE: must be float32, got float16");
}

}  // namespace
}  // namespace etch
