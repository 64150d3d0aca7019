// NonZero: positions in a constant; an input known at run time is refused.
#include "compiler/ops/nonzero/op.h"

#include <gtest/gtest.h>

#include "tests/support/model_builder.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(NonZero, FindsPositions) {
  ModelBuilder model(13);
  model.initializer("x", f32({2, 2}, {1, 0, 1, -1})).node("NonZero", {"x"}, {"y"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(*graph->value(graph->outputs[0]).constant, s64({2, 3}, {0, 1, 1, 0, 0, 1}));
}

TEST(NonZero, NeedsAConstant) {
  OneNode node("NonZero");
  node.input(counting({2}));
  EXPECT_EQ(node.errors(),
            "E-UNSUPPORTED: must be known at compile time: it decides the shape of the output");
}

}  // namespace
}  // namespace etch
