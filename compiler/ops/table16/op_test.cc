// Table16: entries by value, and what a table must be.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Table16, HasAnEntryForEachValueFromTheLeastOn) {
  Tensor table(DType::kS16, {65536});
  for (int i = 0; i < 65536; ++i)
    table.as<std::int16_t>()[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(i / 2);
  OneNode node("Table16", "org.etch", 1);
  node.input(Tensor::of<std::int16_t>({3}, {-32768, 0, 32767})).constant(table);
  EXPECT_EQ(node.run().at(0), Tensor::of<std::int16_t>({3}, {0, 16384, 32767}));
}

TEST(Table16, NeedsAnEntryForEachValue) {
  OneNode node("Table16", "org.etch", 1);
  node.input(Tensor(DType::kS16, {3})).constant(Tensor(DType::kS16, {256}));
  EXPECT_EQ(node.errors(), "E-SHAPE: must be [65536], got [256]");
}

}  // namespace
}  // namespace etch
