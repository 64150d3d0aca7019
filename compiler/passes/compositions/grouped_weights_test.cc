// MatMulNBits with g_idx: the definition by hand, with numbers whose sums are exact, and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr std::int64_t kDepth = 40;  // blocks of 16, 16 and 8 values

// a [1, 40] of 1 to 40 times one column of the integers (7 * k) % 16, with a scale for each block.
ModelBuilder product(const std::vector<std::int32_t>& groups, bool zeros = false,
                     std::int64_t bits = 4) {
  ModelBuilder model(17);
  model.opset("com.microsoft", 1).input("a", DType::kF32, {1, kDepth});
  Tensor b(DType::kU8, {1, 3, 2 * bits});
  for (std::size_t k = 0; bits == 4 && k < kDepth; ++k)
    b.as<std::uint8_t>()[k / 2] |= static_cast<std::uint8_t>(7 * k % 16 << (k % 2 * 4));
  model.initializer("b", b).initializer("s", f32({3}, {0.5F, 2, 16}));
  model.initializer("z", Tensor(DType::kU8, {2}));
  model.initializer("g", s32({std::ssize(groups)}, groups)).initializer("bias", f32({1}, {1000}));
  model.node("MatMulNBits", {"a", "b", "s", zeros ? "z" : "", "g", "bias"}, {"y"},
             {{"K", kDepth},
              {"N", std::int64_t{1}},
              {"bits", bits},
              {"block_size", std::int64_t{16}},
              {"accuracy_level", std::int64_t{4}}},
             "com.microsoft");
  model.output("y");
  return model;
}

// Groups by turns, the last of 8 values.
std::vector<std::int32_t> mixed() {
  std::vector<std::int32_t> groups(kDepth);
  for (std::int32_t k = 0; k < kDepth; ++k)
    groups[static_cast<std::size_t>(k)] = k < 24 ? k % 3 : k % 2;
  return groups;
}

float expected(const std::vector<std::int32_t>& groups) {
  const float scales[] = {0.5F, 2, 16};
  float sum = 1000;
  for (std::size_t k = 0; k < kDepth; ++k) {
    const int value = static_cast<int>(7 * k % 16) - 8;
    sum += static_cast<float>(k + 1) * static_cast<float>(value) *
           scales[static_cast<std::size_t>(groups[k])];
  }
  return sum;
}

Tensor result(const std::vector<std::int32_t>& groups) {
  Sink sink;
  const auto graph = load(product(groups), sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  std::vector<float> a;
  for (int k = 1; k <= kDepth; ++k) a.push_back(static_cast<float>(k));
  return graph ? evaluate(*graph, {f32({1, kDepth}, a)}).at(0) : Tensor();
}

std::string errors(const ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

TEST(GroupedWeights, EachValueHasTheScaleOfItsBlock) {
  EXPECT_EQ(result(mixed()), f32({1, 1}, {expected(mixed())}));
}

TEST(GroupedWeights, BlocksInOrderNeedNoGather) {
  std::vector<std::int32_t> groups(kDepth, 0);
  std::fill(groups.begin() + 16, groups.begin() + 32, 1);
  std::fill(groups.begin() + 32, groups.end(), 2);
  EXPECT_EQ(result(groups), f32({1, 1}, {expected(groups)}));
  Sink sink;
  EXPECT_EQ(load(product(groups), sink).value().nodes.size(), 1U);
}

TEST(GroupedWeights, IndicesOfThePaddingCountForNothing) {
  std::vector<std::int32_t> groups = mixed();
  groups.resize(48, 2);
  EXPECT_EQ(result(groups), f32({1, 1}, {expected(mixed())}));
}

TEST(GroupedWeights, WhatOnnxRuntimeComputesOtherwiseIsRefused) {
  EXPECT_NE(errors(product(mixed(), true)).find("g_idx is taken without zero_points"),
            std::string::npos);
  EXPECT_NE(errors(product(mixed(), false, 2)).find("g_idx is taken with 4 bits, got 2"),
            std::string::npos);
}

TEST(GroupedWeights, OtherCountsOfGroupsAreRefused) {
  constexpr const char* kWhat = "must name each of the 3 blocks as often as it has values";
  auto groups = mixed();
  groups[0] = 1;
  EXPECT_NE(errors(product(groups)).find(kWhat), std::string::npos);
  groups[0] = 3;
  EXPECT_NE(errors(product(groups)).find(kWhat), std::string::npos);
  groups[0] = -1;
  EXPECT_NE(errors(product(groups)).find(kWhat), std::string::npos);
  groups.pop_back();
  EXPECT_NE(errors(product(groups)).find(kWhat), std::string::npos);
}

}  // namespace
}  // namespace etch
