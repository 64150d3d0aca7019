// Constant: each way to give a value.
#include "compiler/ops/constant/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

Tensor constant(const std::string& name, Attribute value) {
  OneNode node("Constant");
  node.attribute(name, std::move(value));
  return node.run().at(0);
}

TEST(Constant, TakesTensorsNumbersAndLists) {
  EXPECT_EQ(constant("value", u8({2}, {3, 4})), u8({2}, {3, 4}));
  EXPECT_EQ(constant("value_float", 1.5F), f32({}, {1.5F}));
  EXPECT_EQ(constant("value_int", std::int64_t{-7}), s64({}, {-7}));
  EXPECT_EQ(constant("value_floats", std::vector<float>{1, 2}), f32({2}, {1, 2}));
  EXPECT_EQ(constant("value_ints", List{1, 2}), s64({2}, {1, 2}));
}

TEST(Constant, ExactlyOneValueMustBeGiven) {
  OneNode none("Constant");
  EXPECT_EQ(none.errors(), "E-ATTR: exactly one value must be given, got 0");
  OneNode two("Constant");
  two.attribute("value_float", 1.0F).attribute("value_int", std::int64_t{1});
  EXPECT_EQ(two.errors(), "E-ATTR: exactly one value must be given, got 2");
}

TEST(Constant, NumbersAreUnknownBeforeOpset12) {
  OneNode node("Constant", "", 11);
  node.attribute("value", u8({1}, {1})).attribute("value_int", std::int64_t{1});
  EXPECT_EQ(node.errors(), "E-ATTR: is not an attribute of this operator");
}

TEST(Constant, TextIsRefused) {
  OneNode node("Constant");
  node.attribute("value_string", std::string("a"));
  EXPECT_EQ(node.errors(), "E-UNSUPPORTED: value_string is not supported");
}

}  // namespace
}  // namespace etch
