// Pad: every mode, both forms of its arguments, removal, and one refusal per test.
#include "compiler/ops/pad/op.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/one_node.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

OneNode pad(Tensor x, const Ints& pads, const std::string& mode, std::int64_t opset = 19) {
  OneNode node("Pad", "", opset);
  node.input(std::move(x)).constant(s64({static_cast<std::int64_t>(pads.size())}, pads));
  node.attribute("mode", mode);
  return node;
}

// The examples of the operator's specification, as rows of three.
const Tensor kRows = f32({3, 2}, {1.0F, 1.2F, 2.3F, 3.4F, 4.5F, 5.7F});

TEST(Pad, FillsWithTheConstant) {
  EXPECT_EQ(pad(kRows, {0, 2, 0, 0}, "constant").run().at(0),
            f32({3, 4}, {0, 0, 1.0F, 1.2F, 0, 0, 2.3F, 3.4F, 0, 0, 4.5F, 5.7F}));
  OneNode node = pad(u8({1}, {5}), {1, 1}, "constant");
  node.constant(u8({}, {9}));
  EXPECT_EQ(node.run().at(0), u8({3}, {9, 5, 9}));
}

TEST(Pad, MirrorsWithoutTheEdge) {
  const Tensor three = f32({3, 3}, {1.0F, 1.2F, 3, 2.3F, 3.4F, 4, 4.5F, 5.7F, 6});
  EXPECT_EQ(pad(three, {0, 2, 0, 0}, "reflect").run().at(0),
            f32({3, 5}, {3, 1.2F, 1.0F, 1.2F, 3, 4, 3.4F, 2.3F, 3.4F, 4, 6, 5.7F, 4.5F, 5.7F, 6}));
}

TEST(Pad, RepeatsTheEdge) {
  EXPECT_EQ(pad(kRows, {0, 2, 0, 0}, "edge").run().at(0),
            f32({3, 4}, {1, 1, 1.0F, 1.2F, 2.3F, 2.3F, 2.3F, 3.4F, 4.5F, 4.5F, 4.5F, 5.7F}));
}

TEST(Pad, WrapsAround) {
  EXPECT_EQ(pad(counting({3}), {2, 4}, "wrap").run().at(0), f32({9}, {1, 2, 0, 1, 2, 0, 1, 2, 0}));
}

// As ONNX Runtime does: what is removed cannot be repeated.
TEST(Pad, RemovesBeforeItRepeats) {
  EXPECT_EQ(pad(counting({5}), {3, -2}, "edge").run().at(0), f32({6}, {0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(pad(counting({5}), {3, -1}, "reflect").run().at(0), f32({7}, {3, 2, 1, 0, 1, 2, 3}));
  EXPECT_EQ(pad(counting({5}), {-1, 3}, "wrap").run().at(0), f32({7}, {1, 2, 3, 4, 1, 2, 3}));
  EXPECT_EQ(pad(counting({5}), {-2, 3}, "constant").run().at(0), f32({6}, {2, 3, 4, 0, 0, 0}));
}

TEST(Pad, TakesAttributesBeforeOpset11) {
  OneNode node("Pad", "", 2);
  node.input(counting({2})).attribute("pads", Ints{1, 1}).attribute("value", 7.0F);
  EXPECT_EQ(node.run().at(0), f32({4}, {7, 0, 1, 7}));
  OneNode bytes("Pad", "", 2);
  bytes.input(u8({1}, {1})).attribute("pads", Ints{1, 1});
  EXPECT_EQ(bytes.errors(), "E-TYPE: must be float32 before operator set 11, got uint8");
  OneNode none("Pad", "", 2);
  none.input(counting({2}));
  EXPECT_EQ(none.errors(), "E-ATTR: is missing");
}

TEST(Pad, TakesAxesFromOpset18) {
  const auto node = [](std::int64_t opset) {
    OneNode out("Pad", "", opset);
    out.input(counting({1, 2})).constant(s64({2}, {1, 0})).omitted().constant(s64({1}, {-1}));
    return out;
  };
  EXPECT_EQ(node(18).run().at(0), f32({1, 3}, {0, 0, 1}));
  EXPECT_EQ(node(13).errors(), "E-GRAPH: input 3 (axes) exists since operator set 18");
}

TEST(Pad, RefusesAnUnknownMode) {
  EXPECT_EQ(pad(kRows, {0, 0, 0, 0}, "circular").errors(),
            "E-ATTR: must be constant, edge, reflect or wrap, got 'circular'");
  EXPECT_EQ(pad(kRows, {0, 0, 0, 0}, "wrap", 18).errors(),
            "E-ATTR: wrap exists since operator set 19");
}

TEST(Pad, RefusesPadsThatDoNotFitTheAxes) {
  EXPECT_EQ(pad(kRows, {0, 0}, "edge").errors(),
            "E-SHAPE: pads must have two entries for each of 2 axes, got 2");
  EXPECT_EQ(pad(counting({3}), {3, 0}, "reflect").errors(),
            "E-SHAPE: mirrored pads must be shorter than the axis: 3 beside 3 elements");
  EXPECT_EQ(pad(counting({3}), {-2, -2}, "constant").errors(),
            "E-SHAPE: pads remove more than the 3 elements of an axis");
  EXPECT_EQ(pad(counting({3}), {-3, 1}, "edge").errors(),
            "E-SHAPE: pads repeat elements of an axis that has none");
  EXPECT_EQ(pad(counting({3}), {INT64_MAX, INT64_MAX}, "constant").errors(),
            "E-LIMIT: pads are too large");
}

TEST(Pad, RefusesAConstantThatIsNone) {
  OneNode type = pad(u8({1}, {5}), {1, 1}, "constant");
  type.constant(f32({}, {0}));
  EXPECT_EQ(type.errors(), "E-TYPE: must be uint8, got float32");
  OneNode late = pad(u8({1}, {5}), {1, 1}, "constant");
  late.input(u8({}, {0}));
  EXPECT_EQ(late.errors(), "E-UNSUPPORTED: must be known at compile time");
  OneNode many = pad(u8({1}, {5}), {1, 1}, "constant");
  many.constant(u8({2}, {0, 0}));
  EXPECT_EQ(many.errors(), "E-SHAPE: must have one element, got 2");
}

TEST(Pad, NeedsPads) {
  OneNode node("Pad", "", 13);
  node.input(counting({2}));
  EXPECT_EQ(node.errors(), "E-GRAPH: input 1 (pads) is missing");
}

}  // namespace
}  // namespace etch
