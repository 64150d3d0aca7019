// Size: the number of elements.
#include "compiler/ops/size/op.h"

#include <gtest/gtest.h>

#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

TEST(Size, CountsElements) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {2, 3}).node("Size", {"x"}, {"y"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(*graph->value(graph->outputs[0]).constant, s64({}, {6}));
}

}  // namespace
}  // namespace etch
