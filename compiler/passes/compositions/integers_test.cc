// Compositions for types of integers that kernels do not have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/support/one_operator.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Compositions, MeansOfIntegersAreTruncated) {
  OneOperator all("ReduceMean", 13), rows("ReduceMean", 18), wrapped("ReduceMean", 13);
  EXPECT_EQ(all.input(s64({4}, {-1, -2, -2, -2})).output(), s64({1}, {-1}));
  rows.input(s32({2, 3}, {1, 2, 5, -1, -2, -5})).constant(s64({1}, {1}));
  EXPECT_EQ(rows.attribute("keepdims", std::int64_t{0}).output(), s32({2}, {2, -2}));
  EXPECT_EQ(wrapped.input(s32({2}, {INT32_MAX, 1})).output(), s32({1}, {INT32_MIN / 2}));
  OneOperator early("ReduceMean", 13);
  early.input(s32({2}, {7, -7})).constant(s64({1}, {0}));
  EXPECT_TRUE(says(early, "input 1 (axes) is an attribute before operator set 18"));
  OneOperator none("ReduceMean", 18);
  none.input(s32({2}, {7, -7})).attribute("noop_with_empty_axes", std::int64_t{1});
  EXPECT_EQ(none.output(), s32({2}, {7, -7}));
}

TEST(Compositions, TheLargestOf16BitsKeepTheirType) {
  OneOperator node("TopK", 11);
  node.input(Tensor::of<std::int16_t>({4}, {-32768, 5, 32767, 5})).constant(s64({1}, {2}));
  const auto found = node.outputs(2);
  EXPECT_EQ(found.at(0), Tensor::of<std::int16_t>({2}, {32767, 5}));
  EXPECT_EQ(found.at(1), s64({2}, {2, 1}));
}

TEST(Compositions, TheLargestUnsignedNumbersAreAboveTheSignedOnes) {
  Tensor x(DType::kU64, {4}), most(DType::kU64, {2});
  std::ranges::copy(std::vector<std::uint64_t>{1, UINT64_MAX, 0, 1ULL << 63},
                    x.as<std::uint64_t>().begin());
  std::ranges::copy(std::vector<std::uint64_t>{UINT64_MAX, 1ULL << 63},
                    most.as<std::uint64_t>().begin());
  OneOperator node("TopK", 11);
  const auto found = node.input(x).constant(s64({1}, {2})).outputs(2);
  EXPECT_EQ(found.at(0), most);
  EXPECT_EQ(found.at(1), s64({2}, {1, 3}));
}

}  // namespace
}  // namespace etch
