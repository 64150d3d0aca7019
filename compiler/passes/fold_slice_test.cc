// Slices that become padding of the convolution before them, and those that must stay.
#include "compiler/passes/fold_slice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/dead_code.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Attributes = std::map<std::string, Attribute>;

// A convolution of `x` [1, 2, 9] with a kernel of 3, and what a test adds to it.
struct Cropped {
  ModelBuilder model{13};

  explicit Cropped(const std::string& type, const Attributes& attributes) {
    model.input("x", DType::kF32, {1, 2, 9});
    model.initializer("w", f32({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    model.node(type, {"x", "w"}, {"c"}, attributes);
  }
  Cropped& slice(const std::string& from, std::int64_t begin, std::int64_t end,
                 std::int64_t axis = 2, std::int64_t step = 1) {
    model.initializer("begin", s64({1}, {begin})).initializer("end", s64({1}, {end}));
    model.initializer("axis", s64({1}, {axis})).initializer("step", s64({1}, {step}));
    model.node("Slice", {from, "begin", "end", "axis", "step"}, {"y"}).output("y");
    return *this;
  }

  // The pads of the convolution, then -1 if there is still a Slice.
  Ints pads() {
    Sink sink;
    auto graph = load(model, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    if (!graph) return {};
    const Shape shape = *graph->value(graph->outputs[0]).shape;
    fold_slices(*graph);
    remove_dead(*graph);
    verify(*graph, Resolved::kYes);
    EXPECT_EQ(*graph->value(graph->outputs[0]).shape, shape);
    Ints out{0, 0};
    const auto found = graph->nodes[0].attributes.find("pads");
    if (found != graph->nodes[0].attributes.end()) out = std::get<Ints>(found->second);
    const bool sliced =
        std::ranges::any_of(graph->nodes, [](const Node& node) { return node.op_type == "Slice"; });
    if (sliced) out.push_back(-1);
    return out;
  }
};

const Attributes kBoth{{"pads", Ints{2, 2}}};

TEST(FoldSlice, ConvolutionsPadLessAtTheEndThatIsCut) {
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", 0, -2).pads(), (Ints{2, 0}));
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", 0, -1).pads(), (Ints{2, 1}));
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", 1, 100).pads(), (Ints{1, 2}));
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", 2, -1).pads(), (Ints{0, 1}));
}

TEST(FoldSlice, PaddingIsNeverLessThanNone) {
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", 0, -3).pads(), (Ints{2, 2, -1}));
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", 3, 100).pads(), (Ints{2, 2, -1}));
}

// 13 positions, 6 windows; the last one begins at 10, so that 1 position is left over.
TEST(FoldSlice, AStrideCountsInPositionsOfTheInput) {
  const Attributes strided{{"pads", Ints{2, 2}}, {"strides", Ints{2}}};
  EXPECT_EQ(Cropped("Conv", strided).slice("c", 0, -1).pads(), (Ints{2, 0}));
  EXPECT_EQ(Cropped("Conv", strided).slice("c", 1, 100).pads(), (Ints{0, 2}));
  EXPECT_EQ(Cropped("Conv", strided).slice("c", 2, 100).pads(), (Ints{2, 2, -1}));
  const Attributes over{{"pads", Ints{2, 3}}, {"strides", Ints{4}}};  // 14: 3 windows, 3 left over
  EXPECT_EQ(Cropped("Conv", over).slice("c", 0, -1).pads(), (Ints{2, 3, -1}));
  const Attributes none{{"pads", Ints{2, 1}}, {"strides", Ints{3}}};  // 12: 4 windows, 0 left over
  EXPECT_EQ(Cropped("Conv", none).slice("c", 0, -1).pads(), (Ints{2, 0}));
  EXPECT_EQ(Cropped("Conv", none).slice("c", 0, -2).pads(), (Ints{2, 1, -1}));
}

TEST(FoldSlice, TransposedConvolutionsPadMore) {
  const Attributes plain{{"strides", Ints{2}}};
  EXPECT_EQ(Cropped("ConvTranspose", plain).slice("c", 0, -1).pads(), (Ints{0, 1}));
  EXPECT_EQ(Cropped("ConvTranspose", plain).slice("c", 3, -5).pads(), (Ints{3, 5}));
  const Attributes sized{{"strides", Ints{2}}, {"output_shape", Ints{19}}};
  EXPECT_EQ(Cropped("ConvTranspose", sized).slice("c", 0, -1).pads(), (Ints{0, 0, -1}));
}

TEST(FoldSlice, WhatPadsByItselfStays) {
  const Attributes same{{"auto_pad", std::string("SAME_UPPER")}};
  EXPECT_EQ(Cropped("Conv", same).slice("c", 0, -1).pads(), (Ints{0, 0, -1}));
}

TEST(FoldSlice, OnlyNeighboursOfSpatialAxesCount) {
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", 0, 1, 1).pads(), (Ints{2, 2, -1}));
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", 0, -2, 2, 2).pads(), (Ints{2, 2, -1}));
  EXPECT_EQ(Cropped("Conv", kBoth).slice("c", -1, -100, 2, -1).pads(), (Ints{2, 2, -1}));
}

TEST(FoldSlice, OtherReadersKeepTheSlice) {
  Cropped two("Conv", kBoth);
  two.slice("c", 0, -2).model.output("c");
  EXPECT_EQ(two.pads(), (Ints{2, 2, -1}));
}

TEST(FoldSlice, OperatorsBetweenAreCroppedToo) {
  Cropped biased("Conv", kBoth);
  biased.model.initializer("bias", f32({1, 2, 1}, {1, 2})).node("Add", {"bias", "c"}, {"b"});
  biased.model.node("Relu", {"b"}, {"r"});
  EXPECT_EQ(biased.slice("r", 0, -2).pads(), (Ints{2, 0}));
  Cropped squared("Conv", kBoth);
  squared.model.node("Mul", {"c", "c"}, {"b"});
  EXPECT_EQ(squared.slice("b", 0, -2).pads(), (Ints{2, 2, -1}));
}

TEST(FoldSlice, OperandsThatDifferAlongTheCutKeepTheSlice) {
  Cropped each("Conv", kBoth);
  each.model.initializer("bias", f32({11}, std::vector<float>(11, 1.0F)));
  each.model.node("Add", {"c", "bias"}, {"b"});
  EXPECT_EQ(each.slice("b", 0, -2).pads(), (Ints{2, 2, -1}));
  Cropped other("Conv", kBoth);
  other.model.node("Softmax", {"c"}, {"b"}, {{"axis", std::int64_t{1}}});
  EXPECT_EQ(other.slice("b", 0, -2).pads(), (Ints{2, 2, -1}));
}

}  // namespace
}  // namespace etch
