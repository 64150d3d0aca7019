// Streaming of rows: which operators are taken together, what a band computes, and the cost.
#include "compiler/passes/stream_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/base/text.h"
#include "compiler/ops/qlinear_binary/op.h"
#include "compiler/ops/qlinear_conv_add/op.h"
#include "compiler/passes/fuse_add.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// A float image of 2 channels and 8 rows, quantized; convolutions are 3x3 with padding.
class Block {
 public:
  Block() {
    model_.opset("com.microsoft", 1);
    model_.input("x", DType::kF32, {1, 2, 8, 4});
    model_.initializer("scale", f32({}, {0.5F})).initializer("zero", u8({}, {7}));
    model_.initializer("w", u8({2, 2, 3, 3}, std::vector<std::uint8_t>(36, 3)));
    model_.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  }
  Block& conv(const std::string& x, const std::string& y, std::int64_t stride = 1) {
    model_.node("QLinearConv", {x, "scale", "zero", "w", "scale", "zero", "scale", "zero"}, {y},
                {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{stride, stride}}});
    return *this;
  }
  Block& add(const std::string& a, const std::string& b, const std::string& y) {
    model_.node("QLinearAdd", {a, "scale", "zero", b, "scale", "zero", "scale", "zero"}, {y}, {},
                "com.microsoft");
    return *this;
  }
  Graph graph(const std::vector<std::string>& outputs) {
    for (const std::string& each : outputs) model_.output(each);
    Sink sink;
    auto graph = load(model_, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    return std::move(*graph);
  }

 private:
  ModelBuilder model_{13};
};

// "Slice 5 | QuantizeLinear 5 | QLinearConv pad 1,0 4 | ...": of each node the rows it makes.
std::string text_of(const Graph& graph) {
  std::string out;
  for (const Node& node : graph.nodes) {
    out += cat(out.empty() ? "" : " | ", node.op_type);
    const ConvGeometry* geometry = nullptr;
    if (node.op_type == "QLinearConv") geometry = &params_of<QLinearConvParams>(node).geometry;
    if (node.op_type == "QLinearConvAdd") geometry = &params_of<QLinearConvAdd>(node).conv.geometry;
    if (geometry != nullptr && geometry->axes[0].pad_begin + geometry->axes[0].pad_end > 0)
      out += cat(" pad ", geometry->axes[0].pad_begin, ",", geometry->axes[0].pad_end);
    out += cat(" ", (*graph.value(node.outputs[0]).shape)[2]);
  }
  return out;
}

// The way with so many bands up to the last node.
RowStream way(const Graph& graph, std::int64_t bands) {
  for (const RowStream& stream : row_streams(graph, 10, 100)) {
    if (stream.bands == bands && stream.last + 1 == graph.nodes.size()) return stream;
  }
  ADD_FAILURE() << "no such way";
  return {};
}

TEST(StreamRows, ABandTakesInTheQuantizationOfTheInput) {
  Graph graph = Block().conv("q", "a").conv("a", "y").graph({"y"});
  stream_rows(graph, way(graph, 2));
  verify(graph, Resolved::kYes);
  EXPECT_EQ(
      text_of(graph),
      "Slice 6 | QuantizeLinear 6 | QLinearConv pad 1,0 5 | QLinearConv pad 1,0 4 | "
      "Slice 6 | QuantizeLinear 6 | QLinearConv pad 0,1 5 | QLinearConv pad 0,1 4 | Concat 8");
}

TEST(StreamRows, ABranchReadsItsRowsOfTheBand) {
  Graph graph = Block().conv("q", "a").conv("a", "b").add("b", "a", "y").graph({"y"});
  fuse_adds(graph);
  ASSERT_EQ(graph.nodes.size(), 3U);
  stream_rows(graph, way(graph, 2));
  verify(graph, Resolved::kYes);
  EXPECT_EQ(text_of(graph),
            "Slice 6 | QuantizeLinear 6 | QLinearConv pad 1,0 5 | Slice 4 | "
            "QLinearConvAdd pad 1,0 4 | "
            "Slice 6 | QuantizeLinear 6 | QLinearConv pad 0,1 5 | Slice 4 | "
            "QLinearConvAdd pad 0,1 4 | Concat 8");
}

TEST(StreamRows, RowsThatBandsShareAreCounted) {
  const Graph graph = Block().conv("q", "a").conv("a", "y").graph({"y"});
  // Of 2x2x3x3 products for each of 2 * 4 numbers of a row, two rows of the first convolution.
  EXPECT_EQ(way(graph, 2).repeated_macs, 2 * 4 * 18 * 2);
  EXPECT_GT(way(graph, 8).repeated_macs, way(graph, 2).repeated_macs);
  for (const RowStream& stream : row_streams(graph, 0.1, 100))
    EXPECT_LE(stream.repeated_macs, 8 * 2 * 4 * 18 * 2 / 10);
}

TEST(StreamRows, WhatOthersReadStaysOutside) {
  // "a" is an output of the network, so bands begin after it; one convolution makes no stream.
  const Graph graph = Block().conv("q", "a").conv("a", "y").graph({"a", "y"});
  EXPECT_TRUE(row_streams(graph, 10, 100).empty());
}

// One row of one element is a scalar, and a sum of scalars exchanges the roles of its operands.
TEST(StreamRows, SumsOfRowsThatAreScalarsStayOutside) {
  for (const std::int64_t width : {1, 2}) {
    ModelBuilder model(13);
    model.opset("com.microsoft", 1);
    model.input("x", DType::kU8, {1, 1, 4, width});
    model.initializer("scale", f32({}, {0.5F})).initializer("zero", u8({}, {7}));
    model.initializer("w", u8({1, 1, 1, 1}, {3}));
    const auto conv = [&](const std::string& x, const std::string& y) {
      model.node("QLinearConv", {x, "scale", "zero", "w", "scale", "zero", "scale", "zero"}, {y});
    };
    conv("x", "a");
    model.node("QLinearAdd", {"a", "scale", "zero", "x", "scale", "zero", "scale", "zero"}, {"b"},
               {}, "com.microsoft");
    conv("b", "c");
    conv("c", "y");
    model.output("y");
    Sink sink;
    const auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    int sums = 0;
    for (const RowStream& stream : row_streams(*graph, 10, 100)) {
      Graph streamed = *graph;
      stream_rows(streamed, stream);
      for (const Node& node : streamed.nodes) {
        if (node.op_type != "QLinearAdd") continue;
        EXPECT_FALSE(params_of<QLinearBinary>(node).swapped) << stream.bands << " bands";
        ++sums;
      }
    }
    EXPECT_GT(sums, width);
  }
}

TEST(StreamRows, AtMostSoManyWaysAreGivenTheLeastFirst) {
  const Graph graph = Block().conv("q", "a").conv("a", "b", 2).conv("b", "y").graph({"y"});
  const auto all = row_streams(graph, 10, 100), few = row_streams(graph, 10, 2);
  ASSERT_GT(all.size(), 2U);
  ASSERT_EQ(few.size(), 2U);
  EXPECT_LE(few[0].estimate, few[1].estimate);
  EXPECT_EQ(few[1].estimate, all[1].estimate);
}

}  // namespace
}  // namespace etch
