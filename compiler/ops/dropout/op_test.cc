// Dropout drops nothing.
#include "compiler/ops/dropout/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

Tensor flag(int value) {
  Tensor out(DType::kBool, {});
  out.mutable_bytes()[0] = static_cast<std::byte>(value);
  return out;
}

TEST(Dropout, KeepsEverything) {
  OneNode node("Dropout");
  node.input(u8({3}, {1, 2, 255})).constant(f32({}, {0.5F})).constant(flag(0));
  EXPECT_EQ(node.run().at(0), u8({3}, {1, 2, 255}));
}

TEST(Dropout, TheRatioIsAnAttributeBeforeOpset12) {
  OneNode node("Dropout", "", 11);
  node.input(counting({2})).attribute("ratio", 0.3F);
  EXPECT_EQ(node.run().at(0), counting({2}));
}

TEST(Dropout, TheMaskIsAllTrue) {
  OneNode node("Dropout");
  node.input(counting({2})).outputs(2);
  ASSERT_TRUE(node.resolve());
  EXPECT_EQ(node.node().outputs.at(1), kNoValue);  // known, so that the node does not make it
}

TEST(Dropout, TrainingIsRefused) {
  OneNode on("Dropout");
  on.input(counting({2})).omitted().constant(flag(1));
  EXPECT_EQ(on.errors(), "E-UNSUPPORTED: must be the constant false");
  OneNode unknown("Dropout");
  unknown.input(counting({2})).omitted().input(flag(0));
  EXPECT_EQ(unknown.errors(), "E-UNSUPPORTED: must be the constant false");
}

TEST(Dropout, AMaskOfIntegersIsRefusedBeforeOpset10) {
  OneNode node("Dropout", "", 9);
  node.input(u8({1}, {1})).outputs(2);
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: a mask of this type cannot be made");
}

}  // namespace
}  // namespace etch
