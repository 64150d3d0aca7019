// Bands of rows: which convolutions are split, into what, and that results stay the same.
#include "compiler/passes/split_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/ops/qlinear_conv/op.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// x -> pointwise "t" of 4 channels -> depthwise "y" of any kernel.
struct Pair {
  ModelBuilder model{13};

  Pair(std::int64_t rows, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
    model.input("x", DType::kU8, {1, 2, rows, 5});
    model.initializer("scale", f32({}, {0.5F})).initializer("zero", u8({}, {7}));
    model.initializer("w1", u8({4, 2, 1, 1}, std::vector<std::uint8_t>(8, 3)));
    model.initializer(
        "w2", u8({4, 1, kernel, kernel},
                 std::vector<std::uint8_t>(static_cast<std::size_t>(4 * kernel * kernel), 2)));
    model.node("QLinearConv", {"x", "scale", "zero", "w1", "scale", "zero", "scale", "zero"},
               {"t"});
    model.node("QLinearConv", {"t", "scale", "zero", "w2", "scale", "zero", "scale", "zero"}, {"y"},
               {{"group", std::int64_t{4}},
                {"strides", std::vector<std::int64_t>{stride, stride}},
                {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}});
  }

  Graph split(std::int64_t above) {
    model.output("y");
    Sink sink;
    auto graph = load(model, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    split_rows(*graph, above);
    verify(*graph, Resolved::kYes);
    return std::move(*graph);
  }
};

// "Slice 0-5 | QLinearConv 5 | QLinearConv pad 1,0 -> 4 | ..." of each node the rows it makes.
std::string text_of(const Graph& graph) {
  std::string out;
  for (const Node& node : graph.nodes) {
    out += out.empty() ? "" : " | ";
    out += node.op_type;
    if (node.op_type == "QLinearConv") {
      const ConvAxis& axis = params_of<QLinearConvParams>(node).geometry.axes[0];
      if (axis.pad_begin + axis.pad_end > 0)
        out += " pad " + std::to_string(axis.pad_begin) + "," + std::to_string(axis.pad_end);
    }
    out += " " + std::to_string((*graph.value(node.outputs[0]).shape)[2]);
  }
  return out;
}

TEST(SplitRows, BandsComputeWhatTheNextOneNeeds) {
  // A row between the two has 20 bytes; four of them make two rows of y.
  EXPECT_EQ(text_of(Pair(6, 3, 1, 1).split(80)),
            "Slice 3 | QLinearConv 3 | QLinearConv pad 1,0 2 | "
            "Slice 4 | QLinearConv 4 | QLinearConv 2 | "
            "Slice 3 | QLinearConv 3 | QLinearConv pad 0,1 2 | Concat 6");
}

TEST(SplitRows, AStrideNeedsMoreRows) {
  EXPECT_EQ(text_of(Pair(8, 3, 2, 1).split(60)),
            "Slice 2 | QLinearConv 2 | QLinearConv pad 1,0 1 | "
            "Slice 3 | QLinearConv 3 | QLinearConv 1 | "
            "Slice 3 | QLinearConv 3 | QLinearConv 1 | "
            "Slice 3 | QLinearConv 3 | QLinearConv 1 | Concat 4");
}

TEST(SplitRows, TheLastBandMayBeSmaller) {
  const std::string text = text_of(Pair(7, 1, 1, 0).split(60));
  EXPECT_EQ(text,
            "Slice 3 | QLinearConv 3 | QLinearConv 3 | Slice 3 | QLinearConv 3 | QLinearConv 3 | "
            "Slice 1 | QLinearConv 1 | QLinearConv 1 | Concat 7");
}

TEST(SplitRows, WhatIsSmallStaysWhole) {
  const std::string whole = "QLinearConv 4 | QLinearConv pad 1,1 4";
  EXPECT_EQ(text_of(Pair(4, 3, 1, 1).split(80)), whole);
  EXPECT_EQ(text_of(Pair(4, 3, 1, 1).split(-1)), whole);
}

TEST(SplitRows, WhatOthersReadStaysWhole) {
  Pair pair(4, 3, 1, 1);
  pair.model.output("t");
  EXPECT_EQ(text_of(pair.split(10)), "QLinearConv 4 | QLinearConv pad 1,1 4");
}

// Rows 0 and 5 of y see nothing of t.
TEST(SplitRows, ABandOfOnlyPaddingKeepsTheLayerWhole) {
  EXPECT_EQ(text_of(Pair(2, 1, 1, 2).split(10)), "QLinearConv 2 | QLinearConv pad 2,2 6");
}

// Every further layer of a band needs two more rows of the first.
TEST(SplitRows, LongChainsAreCutWhereTooMuchWouldBeComputedTwice) {
  ModelBuilder model(13);
  model.input("v0", DType::kU8, {1, 64, 384, 384});
  model.initializer("scale", f32({}, {0.5F})).initializer("zero", u8({}, {7}));
  model.initializer("w", u8({64, 64, 3, 3}, std::vector<std::uint8_t>(64 * 64 * 9, 3)));
  for (int i = 0; i < 10; ++i) {
    model.node("QLinearConv",
               {"v" + std::to_string(i), "scale", "zero", "w", "scale", "zero", "scale", "zero"},
               {"v" + std::to_string(i + 1)}, {{"pads", Ints{1, 1, 1, 1}}});
  }
  model.output("v10");
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  split_rows(*graph, kSplitRowsAbove);
  std::int64_t rows = 0;
  for (const Node& node : graph->nodes) {
    if (node.op_type == "QLinearConv") rows += (*graph->value(node.outputs[0]).shape)[2];
  }
  EXPECT_LE(rows, 10 * 384 * 11 / 10);
  EXPECT_LE(graph->nodes.size(), 600U);
}

}  // namespace
}  // namespace etch
