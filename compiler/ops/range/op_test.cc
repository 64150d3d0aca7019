// Range: both directions and types, and what it refuses.
#include "compiler/ops/range/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "tests/support/model_builder.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

OneNode range(Tensor start, Tensor limit, Tensor delta) {
  OneNode node("Range");
  node.constant(std::move(start)).constant(std::move(limit)).constant(std::move(delta));
  return node;
}

// The output, which becomes a constant.
Tensor range_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  ModelBuilder model(13);
  model.initializer("start", start).initializer("limit", limit).initializer("delta", delta);
  model.node("Range", {"start", "limit", "delta"}, {"y"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_EQ(errors_of(sink), "");
  return graph ? *graph->value(graph->outputs[0]).constant : Tensor();
}

TEST(Range, CountsUpAndDown) {
  EXPECT_EQ(range_of(s64({}, {3}), s64({}, {9}), s64({}, {3})), s64({2}, {3, 6}));
  EXPECT_EQ(range_of(s32({}, {10}), s32({}, {4}), s32({}, {-2})), s32({3}, {10, 8, 6}));
  EXPECT_EQ(range_of(f32({}, {0}), f32({}, {1}), f32({}, {0.5F})), f32({2}, {0, 0.5F}));
  EXPECT_EQ(range_of(s64({}, {3}), s64({}, {3}), s64({}, {1})), s64({0}, {}));
}

TEST(Range, RefusesWhatHasNoEnd) {
  EXPECT_EQ(range(s64({}, {0}), s64({}, {9}), s64({}, {0})).errors(), "E-TENSOR: must not be 0");
  EXPECT_EQ(range(f32({}, {0}), f32({}, {INFINITY}), f32({}, {1})).errors(),
            "E-TENSOR: must be finite");
  EXPECT_EQ(range(f32({}, {NAN}), f32({}, {9}), f32({}, {1})).errors(), "E-TENSOR: must be finite");
}

TEST(Range, HasAsManyElementsAsLimitsAllow) {
  EXPECT_EQ(range(s64({}, {0}), s64({}, {40'000'000}), s64({}, {1})).errors(),
            "E-LIMIT: output 0 would have the shape [40000000], of its elements at most 33554432; "
            "--limit elements=N raises this");
  EXPECT_EQ(range(s64({}, {INT64_MIN}), s64({}, {INT64_MAX}), s64({}, {1})).errors(),
            "E-LIMIT: output 0 would have the shape [9223372036854775807], of its elements at most "
            "33554432; --limit elements=N raises this");
}

TEST(Range, NeedsConstantScalars) {
  EXPECT_EQ(range(s64({2}, {0, 1}), s64({}, {9}), s64({}, {1})).errors(),
            "E-SHAPE: must be a scalar");
  OneNode late("Range");
  late.constant(s64({}, {0})).input(s64({}, {4})).constant(s64({}, {1}));
  EXPECT_EQ(late.errors(), "E-UNSUPPORTED: must be known at compile time");
}

}  // namespace
}  // namespace etch
