// Identity copies its input.
#include "compiler/ops/identity/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Identity, CopiesAnyType) {
  OneNode node("Identity");
  node.input(u8({3}, {1, 2, 255}));
  EXPECT_EQ(node.run().at(0), u8({3}, {1, 2, 255}));
}

}  // namespace
}  // namespace etch
