// Table: entries by bits, types, refusals.
#include "compiler/ops/table/op.h"

#include <gtest/gtest.h>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// Entry i is 255 - i.
Tensor reversed(DType type) {
  Tensor out(type, {256});
  for (std::size_t i = 0; i < 256; ++i) out.mutable_bytes()[i] = static_cast<std::byte>(255 - i);
  return out;
}

OneNode table(const Tensor& x, const Tensor& entries) {
  OneNode node("Table", "org.etch", 1);
  node.input(x).constant(entries);
  return node;
}

TEST(Table, EntriesBelongToBits) {
  EXPECT_EQ(table(u8({3}, {0, 1, 255}), reversed(DType::kU8)).run().at(0), u8({3}, {255, 254, 0}));
  EXPECT_EQ(table(s8({3}, {0, -1, -128}), reversed(DType::kS8)).run().at(0), s8({3}, {-1, 0, 127}));
}

TEST(Table, TheTableDecidesTheType) {
  OneNode node = table(u8({1, 2}, {0, 255}), reversed(DType::kS8));
  EXPECT_EQ(node.run().at(0), s8({1, 2}, {-1, 0}));
}

TEST(Table, OnlyBytesAreLookedUp) {
  EXPECT_EQ(table(f32({1}, {0}), reversed(DType::kU8)).errors(),
            "E-TYPE: must be uint8, int8, got float32");
  EXPECT_EQ(table(u8({1}, {0}), Tensor(DType::kF32, {256})).errors(),
            "E-TYPE: must be uint8, int8, got float32");
}

TEST(Table, TheTableHas256EntriesKnownWhenCompiling) {
  EXPECT_EQ(table(u8({1}, {0}), Tensor(DType::kU8, {255})).errors(),
            "E-SHAPE: must be [256], got [255]");
  OneNode unknown("Table", "org.etch", 1);
  unknown.input(u8({1}, {0})).input(reversed(DType::kU8));
  EXPECT_EQ(unknown.errors(), "E-UNSUPPORTED: must be known at compile time");
}

}  // namespace
}  // namespace etch
