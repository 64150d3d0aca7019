// ReduceMean: which axes go, in every form of the argument.
#include "compiler/ops/reduce_mean/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

TEST(ReduceMean, AxesAreAnAttributeBeforeOpset18) {
  OneNode node("ReduceMean");
  node.input(counting({2, 2, 2})).attribute("axes", List{0, -1});
  EXPECT_EQ(node.run().at(0), f32({1, 2, 1}, {2.5F, 4.5F}));
}

TEST(ReduceMean, AxesAreAnInputFromOpset18On) {
  OneNode node("ReduceMean", "", 18);
  node.input(counting({2, 3})).constant(s64({1}, {1})).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), f32({2}, {1, 4}));
}

TEST(ReduceMean, ReducesEverythingByDefault) {
  OneNode node("ReduceMean");
  node.input(counting({2, 2})).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), f32({}, {1.5F}));
}

TEST(ReduceMean, MayReduceNothing) {
  OneNode node("ReduceMean", "", 18);
  node.input(counting({2, 2})).attribute("noop_with_empty_axes", std::int64_t{1});
  EXPECT_EQ(node.run().at(0), counting({2, 2}));
}

TEST(ReduceMean, AxesMustExist) {
  OneNode node("ReduceMean");
  node.input(counting({2})).attribute("axes", List{1});
  EXPECT_EQ(node.errors(), "E-ATTR: axes: each must be in [-1, 0], got 1");
}

TEST(ReduceMean, NothingHasNoMean) {
  OneNode node("ReduceMean");
  node.input(counting({2, 0})).attribute("axes", List{1});
  EXPECT_EQ(node.errors(), "E-SHAPE: the mean of no elements is not defined");
}

TEST(Reduction, OfNothingIsNeutral) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto of_nothing = [](const char* type, DType dtype) {
    ModelBuilder model(18);
    model.input("x", dtype, {2, 0}).initializer("axes", s64({1}, {1}));
    model.node(type, {"x", "axes"}, {"y"}).output("y");
    Sink sink;
    const auto graph = load(model, sink);
    ETCH_CHECK(graph);
    return evaluate(*graph, {Tensor(dtype, {2, 0})}).at(0);
  };
  EXPECT_EQ(of_nothing("ReduceSum", DType::kF32), f32({2, 1}, {0, 0}));
  EXPECT_EQ(of_nothing("ReduceProd", DType::kF32), f32({2, 1}, {1, 1}));
  EXPECT_EQ(of_nothing("ReduceMax", DType::kF32), f32({2, 1}, {-infinity, -infinity}));
  EXPECT_EQ(of_nothing("ReduceMin", DType::kF32), f32({2, 1}, {infinity, infinity}));
  EXPECT_EQ(of_nothing("ReduceMax", DType::kS32), s32({2, 1}, {INT32_MIN, INT32_MIN}));
  EXPECT_EQ(of_nothing("ReduceMin", DType::kU8), u8({2, 1}, {255, 255}));
}

TEST(ReduceMean, OfBytesIsRefusedWithAllTypesThatServe) {
  OneNode node("ReduceMean");
  node.input(u8({1}, {1}));
  EXPECT_EQ(node.errors(),
            "E-TYPE: must be float32, float16, bfloat16, float64, int32, int64, got uint8");
}

TEST(ReduceMax, TakesTheLargestOfEveryRow) {
  OneNode node("ReduceMax");
  node.input(f32({2, 3}, {-1, -3, -2, 4, 9, 5})).attribute("axes", List{1});
  EXPECT_EQ(node.run().at(0), f32({2, 1}, {-1, 9}));
}

TEST(ReduceMin, TakesTheSmallestOfAll) {
  OneNode node("ReduceMin");
  node.input(f32({2, 3}, {-1, -3, -2, 4, 9, 5})).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), f32({}, {-3}));
}

TEST(ReduceMax, ComparesIntegersWithTheirSign) {
  OneNode node("ReduceMax");
  node.input(s8({2, 2}, {-128, 3, 127, -4})).attribute("axes", List{0});
  EXPECT_EQ(node.run().at(0), s8({1, 2}, {127, 3}));
}

TEST(ReduceSum, AxesAreAnInputFromOpset13On) {
  OneNode node("ReduceSum");
  node.input(counting({2, 3})).constant(s64({1}, {0})).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), f32({3}, {3, 5, 7}));
  OneNode before("ReduceSum", "", 11);
  before.input(counting({2, 3})).attribute("axes", List{1});
  EXPECT_EQ(before.run().at(0), f32({2, 1}, {3, 12}));
}

TEST(ReduceSum, OfIntegersWraps) {
  OneNode node("ReduceSum");
  node.input(s32({2}, {2147483647, 2})).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(node.run().at(0), s32({}, {-2147483647}));
}

TEST(ReduceProd, MultipliesAndWraps) {
  OneNode node("ReduceProd");
  node.input(f32({2, 2}, {3, -4, 0.5F, 2})).attribute("axes", List{0});
  EXPECT_EQ(node.run().at(0), f32({1, 2}, {1.5F, -8}));
  OneNode integers("ReduceProd");
  integers.input(s32({2}, {65536, -65535})).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(integers.run().at(0), s32({}, {65536}));
}

TEST(ReduceProd, OfRowsHas16PartialProducts) {
  std::vector<float> x(33);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0F + static_cast<float>(i) / 1024.0F;
  float part[16];
  for (std::size_t i = 0; i < 16; ++i) part[i] = x[i] * x[i + 16];
  part[0] *= x[32];
  for (std::size_t i = 0; i < 8; ++i) part[i] = part[i + 8] * part[i];
  const float expected =
      ((part[0] * part[1]) * (part[2] * part[3])) * ((part[4] * part[5]) * (part[6] * part[7]));
  OneNode node("ReduceProd");
  node.input(f32({1, 33}, x)).attribute("axes", List{1});
  EXPECT_EQ(node.run().at(0), f32({1, 1}, {expected}));
}

TEST(ReduceMax, OfWordsIsRefusedWithAllTypesThatServe) {
  OneNode node("ReduceMax");
  node.input(Tensor(DType::kS16, {1}));
  EXPECT_EQ(node.errors(),
            "E-TYPE: must be float32, float16, bfloat16, float64, int32, int64, uint8, int8, bool, "
            "got int16");
}

TEST(ReduceSum, EightBitTypesAreRefused) {
  OneNode node("ReduceSum");
  node.input(u8({1}, {1}));
  EXPECT_EQ(node.errors(),
            "E-TYPE: must be float32, float16, bfloat16, float64, int32, int64, got uint8");
}

}  // namespace
}  // namespace etch
