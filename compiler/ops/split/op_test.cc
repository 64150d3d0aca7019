// Split: sizes given, equal, and counted.
#include "compiler/ops/split/op.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using List = std::vector<std::int64_t>;

TEST(Split, PartsAreEqualByDefault) {
  OneNode node("Split", "", 11);
  node.input(counting({4, 2})).outputs(2);
  const auto parts = node.run();
  EXPECT_EQ(parts.at(0), f32({2, 2}, {0, 1, 2, 3}));
  EXPECT_EQ(parts.at(1), f32({2, 2}, {4, 5, 6, 7}));
}

TEST(Split, SizesAreAnInputFromOpset13On) {
  OneNode node("Split");
  node.input(counting({2, 3})).constant(s64({3}, {1, 0, 2})).outputs(3);
  node.attribute("axis", std::int64_t{-1});
  const auto parts = node.run();
  EXPECT_EQ(parts.at(0), f32({2, 1}, {0, 3}));
  EXPECT_EQ(parts.at(1), f32({2, 0}, {}));
  EXPECT_EQ(parts.at(2), f32({2, 2}, {1, 2, 4, 5}));
}

TEST(Split, SizesAreAnAttributeBeforeOpset13) {
  OneNode node("Split", "", 11);
  node.input(counting({3})).attribute("split", List{2, 1}).outputs(2);
  EXPECT_EQ(node.run().at(1), f32({1}, {2}));
}

TEST(Split, LastPartMayBeSmallerWithNumOutputs) {
  OneNode node("Split", "", 18);
  node.input(counting({7})).attribute("num_outputs", std::int64_t{3}).outputs(3);
  const auto parts = node.run();
  EXPECT_EQ(parts.at(0), f32({3}, {0, 1, 2}));
  EXPECT_EQ(parts.at(2), f32({1}, {6}));
}

TEST(Split, UnequalPartsNeedSizes) {
  OneNode node("Split");
  node.input(counting({7})).outputs(3);
  EXPECT_EQ(node.errors(), "E-SHAPE: size 7 cannot be cut into 3 equal parts");
}

TEST(Split, PartsThatAreOmittedCount) {
  for (const bool is_last : {true, false}) {
    ModelBuilder model(18);
    model.input("x", DType::kF32, {4});
    const std::vector<std::string> outputs =
        is_last ? std::vector<std::string>{"y", ""} : std::vector<std::string>{"", "y"};
    model.node("Split", {"x"}, outputs, {{"num_outputs", std::int64_t{2}}}).output("y");
    Sink sink;
    const auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    EXPECT_EQ(evaluate(*graph, {counting({4})}).at(0),
              is_last ? f32({2}, {0, 1}) : f32({2}, {2, 3}));
  }
}

TEST(Split, SizesMustAddUpAndMatchTheOutputs) {
  OneNode sum("Split");
  sum.input(counting({7})).constant(s64({2}, {3, 3})).outputs(2);
  EXPECT_EQ(sum.errors(), "E-SHAPE: split [3, 3] must have one size per output and add up to 7");
  OneNode count("Split");
  count.input(counting({7})).constant(s64({1}, {7})).outputs(2);
  EXPECT_EQ(count.errors(), "E-SHAPE: split [7] must have one size per output and add up to 7");
}

TEST(Split, NumOutputsMustEqualTheOutputs) {
  OneNode node("Split", "", 18);
  node.input(counting({6})).attribute("num_outputs", std::int64_t{3}).outputs(2);
  EXPECT_EQ(node.errors(), "E-ATTR: must equal the number of outputs, 2, and exclude split, got 3");
}

TEST(Split, AxisMustExist) {
  OneNode node("Split");
  node.input(counting({6})).attribute("axis", std::int64_t{1});
  EXPECT_EQ(node.errors(), "E-ATTR: must be in [-1, 0], got 1");
}

}  // namespace
}  // namespace etch
