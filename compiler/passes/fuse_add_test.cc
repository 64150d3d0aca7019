// Sums that a convolution takes over, and those that it must not.
#include "compiler/passes/fuse_add.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/passes/resolve.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

// x -> conv "c" -> QLinearAdd with what a test names.
struct Sum {
  ModelBuilder model{13};

  explicit Sum(std::int64_t group = 1) {
    model.opset("com.microsoft", 1);
    model.input("x", DType::kU8, {1, 2, 3, 3}).input("r", DType::kU8, {1, 2, 3, 3});
    model.input("small", DType::kU8, {1, 2, 1, 1}).input("late", DType::kF32, {});
    model.initializer("scale", f32({}, {0.5F})).initializer("zero", u8({}, {7}));
    model.initializer("w", u8({2, 2 / group, 1, 1},
                              std::vector<std::uint8_t>(static_cast<std::size_t>(4 / group), 3)));
    conv("x", "c", group);
  }
  Sum& conv(const std::string& x, const std::string& y, std::int64_t group = 1) {
    model.node("QLinearConv", {x, "scale", "zero", "w", "scale", "zero", "scale", "zero"}, {y},
               {{"group", group}});
    return *this;
  }
  Sum& add(const std::string& a, const std::string& b, const std::string& scale = "scale") {
    model.node("QLinearAdd", {a, scale, "zero", b, "scale", "zero", "scale", "zero"}, {"y"}, {},
               "com.microsoft");
    return *this;
  }

  // The operators after the pass: "QLinearConvAdd".
  std::string operators() {
    model.output("y");
    Sink sink;
    auto graph = load(model, sink);
    EXPECT_TRUE(graph) << errors_of(sink);
    if (!graph) return {};
    fuse_adds(*graph);
    verify(*graph, Resolved::kYes);
    graph->fusions.finish(*graph);
    records = graph->fusions.records();
    std::string out;
    for (const Node& node : graph->nodes) {
      out += (out.empty() ? "" : " ") + node.op_type;
      const auto found = node.attributes.find("residual_is_a");
      if (found != node.attributes.end() && std::get<std::int64_t>(found->second) == 1)
        out += "(a)";
    }
    return out;
  }
  std::vector<FusionRecord> records;
};

TEST(FuseAdd, AConvolutionTakesTheSumOfItsResult) {
  EXPECT_EQ(Sum().add("c", "r").operators(), "QLinearConvAdd");
  EXPECT_EQ(Sum().add("r", "c").operators(), "QLinearConvAdd(a)");
}

TEST(FuseAdd, LimitsOfTheSumStayThoseOfTheSum) {
  Sum sum;
  sum.add("c", "r");
  sum.model.output("y");
  Sink sink;
  auto graph = load(sum.model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  graph->opsets.emplace("org.etch", 1);
  Node limited = graph->nodes[1];
  limited.domain = "org.etch";
  limited.attributes["clamp_low"] = std::int64_t{7};
  limited.attributes["clamp_high"] = std::int64_t{90};
  ASSERT_TRUE(resolve_node(*graph, limited, sink));
  graph->nodes[1] = limited;
  fuse_adds(*graph);
  ASSERT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(graph->nodes[0].attributes.at("sum_low")), 7);
  EXPECT_EQ(std::get<std::int64_t>(graph->nodes[0].attributes.at("sum_high")), 90);
  EXPECT_FALSE(graph->nodes[0].attributes.contains("clamp_low"));
}

TEST(FuseAdd, TheLogTellsWhatBecameOfTheSum) {
  Sum sum;
  EXPECT_EQ(sum.add("c", "r").operators(), "QLinearConvAdd");
  ASSERT_EQ(sum.records.size(), 1U);
  EXPECT_EQ(sum.records[0].what, "is added by QLinearConv #0 before it stores");
}

TEST(FuseAdd, OfTwoConvolutionsTheLaterOneTakesIt) {
  EXPECT_EQ(Sum().conv("r", "d").add("c", "d").operators(), "QLinearConv QLinearConvAdd(a)");
  EXPECT_EQ(Sum().conv("r", "d").add("d", "c").operators(), "QLinearConv QLinearConvAdd");
}

TEST(FuseAdd, AResultThatIsReadTwiceIsKept) {
  EXPECT_EQ(Sum().add("c", "c").operators(), "QLinearConv QLinearAdd");
  Sum shown;
  shown.model.output("c");
  EXPECT_EQ(shown.add("c", "r").operators(), "QLinearConv QLinearAdd");
}

TEST(FuseAdd, OtherSumsStayAndTheReasonIsLogged) {
  Sum broadcast;
  EXPECT_EQ(broadcast.add("c", "small").operators(), "QLinearConv QLinearAdd");
  EXPECT_EQ(broadcast.records.at(0).what, "one summand is broadcast");
  Sum late;
  EXPECT_EQ(late.add("c", "r", "late").operators(), "QLinearConv QLinearAdd");
  EXPECT_EQ(late.records.at(0).what, "its scales are known only at run time");
  Sum grouped(2);
  EXPECT_EQ(grouped.add("c", "r").operators(), "QLinearConv QLinearAdd");
  EXPECT_EQ(grouped.records.at(0).what,
            "no summand comes, quantized alike, from a convolution of one group that nothing else "
            "reads");
}

TEST(FuseAdd, ASumThatTakesTheResultAsOtherNumbersStays) {
  Sum scale;
  scale.model.initializer("double", f32({}, {1}));
  EXPECT_EQ(scale.add("c", "r", "double").operators(), "QLinearConv QLinearAdd");
  Sum zero;
  zero.model.initializer("eight", u8({}, {8}));
  zero.model.node("QLinearAdd", {"r", "scale", "zero", "c", "scale", "eight", "scale", "zero"},
                  {"y"}, {}, "com.microsoft");
  EXPECT_EQ(zero.operators(), "QLinearConv QLinearAdd");
}

TEST(FuseAdd, TheResidualMayBeQuantizedOtherwise) {
  Sum scale;
  scale.model.initializer("double", f32({}, {1}));
  EXPECT_EQ(scale.add("r", "c", "double").operators(), "QLinearConvAdd(a)");
}

TEST(FuseAdd, AConstantSummandIsReadWhereItIs) {
  Sum sum;
  sum.model.initializer("k", u8({1, 2, 3, 3}, std::vector<std::uint8_t>(18, 5)));
  EXPECT_EQ(sum.add("c", "k").operators(), "QLinearConv QLinearAdd");
  EXPECT_EQ(sum.records.at(0).what, "one summand is constant");
}

TEST(FuseAdd, AConvolutionWhoseInputIsNoLargerWaits) {
  Sum sum;
  sum.model.node("MaxPool", {"r"}, {"p"}, {{"kernel_shape", Ints{1, 1}}});
  EXPECT_EQ(sum.add("c", "p").operators(), "MaxPool QLinearConvAdd");
}

TEST(FuseAdd, TheNodeHasBothNamesIfBothAreThere) {
  const auto name = [](const std::string& conv, const std::string& add) {
    Sum sum;
    sum.model.node_name(conv);
    sum.add("c", "r").model.node_name(add).output("y");
    Sink sink;
    auto graph = load(sum.model, sink);
    fuse_adds(*graph);
    return graph->nodes.at(0).name;
  };
  EXPECT_EQ(name("conv", "add"), "conv + add");
  EXPECT_EQ(name("conv", ""), "conv");
  EXPECT_EQ(name("", "add"), "");
}

// The convolution would run after the pooling and keep x alive, which is larger than its result.
TEST(FuseAdd, AConvolutionThatShrinksItsInputDoesNotWait) {
  ModelBuilder model(13);
  model.opset("com.microsoft", 1);
  model.input("x", DType::kU8, {1, 2, 4, 4}).input("r", DType::kU8, {1, 1, 4, 4});
  model.initializer("scale", f32({}, {0.5F})).initializer("zero", u8({}, {7}));
  model.initializer("w", u8({1, 2, 1, 1}, {1, 2}));
  model.node("QLinearConv", {"x", "scale", "zero", "w", "scale", "zero", "scale", "zero"}, {"c"});
  model.node("MaxPool", {"r"}, {"p"}, {{"kernel_shape", Ints{1, 1}}});
  model.node("QLinearAdd", {"c", "scale", "zero", "p", "scale", "zero", "scale", "zero"}, {"y"}, {},
             "com.microsoft");
  model.output("y");
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  fuse_adds(*graph);
  EXPECT_EQ(graph->nodes.size(), 3U);
  EXPECT_EQ(graph->fusions.records().at(0).what,
            "QLinearConv #0 would have to wait, and its input is larger than its result");
}

// Nothing waits where the sum comes at once, however large the input is.
TEST(FuseAdd, AnInputThatIsLargerThanTheResultIsKeptUntilTheNextNode) {
  Sum sum;
  sum.model.input("wide", DType::kU8, {1, 4, 3, 3});
  sum.model.initializer("v", u8({2, 4, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}));
  sum.model.node("QLinearConv", {"wide", "scale", "zero", "v", "scale", "zero", "scale", "zero"},
                 {"d"});
  EXPECT_EQ(sum.add("d", "r").operators(), "QLinearConvAdd");
}

}  // namespace
}  // namespace etch
