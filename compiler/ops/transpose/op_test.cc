// Transpose: permutations, and lists that are none.
#include "compiler/ops/transpose/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

TEST(Transpose, ReversesTheAxesByDefault) {
  OneNode node("Transpose");
  node.input(f32({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(node.run().at(0), f32({3, 2}, {1, 4, 2, 5, 3, 6}));
}

TEST(Transpose, OutputAxisTakesInputAxisPerm) {
  OneNode node("Transpose");
  node.input(u8({1, 2, 3}, {1, 2, 3, 4, 5, 6})).attribute("perm", List{2, 0, 1});
  EXPECT_EQ(node.run().at(0), u8({3, 1, 2}, {1, 4, 2, 5, 3, 6}));
}

TEST(Transpose, PermMustBeAPermutation) {
  for (const List& perm : {List{0, 0}, List{0, 2}, List{0}, List{-1, 0}}) {
    OneNode node("Transpose");
    node.input(counting({2, 3})).attribute("perm", perm);
    EXPECT_EQ(node.errors(), "E-ATTR: must be a permutation of 2 axes, got " + to_string(perm));
  }
}

}  // namespace
}  // namespace etch
