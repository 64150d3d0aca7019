// Values with as many rows as others say: as outputs of the network, reshaped, in branches, of
// Slice with a step and of Unique; results against values worked out by hand, and what is refused.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "compiler/passes/counted_rows.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::vector<Tensor> run(ModelBuilder& model, const std::vector<Tensor>& inputs) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  return graph ? evaluate(*graph, inputs) : std::vector<Tensor>(8);
}

std::string errors_of_outputs(ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

// x [2, 3] and the coordinates [n, 2] of its elements above 0.
ModelBuilder positives() {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2, 3}).initializer("zero", f32({}, {0}));
  model.node("Greater", {"x", "zero"}, {"flags"}).node("NonZero", {"flags"}, {"found"});
  return model.node("Transpose", {"found"}, {"at"}, {{"perm", Ints{1, 0}}});
}

const Tensor kNone = f32({2, 3}, {-1, -2, 0, -4, -5, -6});
const Tensor kSome = f32({2, 3}, {-1, 2, -3, 4, -5, 6});
const Tensor kAll = f32({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(CountedOutputs, HaveZerosAfterTheirRowsAndTheirShapeIsAnOutput) {
  ModelBuilder model = positives();
  model.node("GatherND", {"x", "at"}, {"chosen"}).output("at").output("found").output("chosen");
  const auto some = run(model, {kSome});
  ASSERT_EQ(some.size(), 6U);
  EXPECT_EQ(some[0], s64({6, 2}, {0, 1, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(some[1], s64({2, 6}, {0, 1, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0}));
  EXPECT_EQ(some[2], f32({6}, {2, 4, 6, 0, 0, 0}));
  EXPECT_EQ(some[3], s64({2}, {3, 2}));
  EXPECT_EQ(some[4], s64({2}, {2, 3}));
  EXPECT_EQ(some[5], s64({1}, {3}));
  EXPECT_EQ(run(model, {kNone})[5], s64({1}, {0}));
  EXPECT_EQ(run(model, {kNone})[2], f32({6}, {0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(run(model, {kAll})[3], s64({2}, {6, 2}));
}

TEST(CountedOutputs, ShapesHaveNamesOfTheirOwnAndANoteSaysWhoCounts) {
  ModelBuilder model = positives();
  model.node("Neg", {"x"}, {"at_shape"}).output("at").output("at_shape");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->outputs.size(), 3U);
  EXPECT_EQ(graph->value(graph->outputs[0]).name, "at");
  EXPECT_EQ(graph->value(graph->outputs[2]).name, "at_shape2");
  const auto all = sink.sorted();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(
      all[0].message,
      "has 0 to 6 rows, as many as node #1 (NonZero) finds at run time; zeros are after them, "
      "and another output, 'at_shape2', is its shape");
}

TEST(CountedOutputs, OfHalfPrecisionHaveZerosToo) {
  ModelBuilder model = positives();
  model.node("GatherND", {"x", "at"}, {"chosen"});
  model.node("Cast", {"chosen"}, {"y"}, {{"to", std::int64_t{10}}}).output("y", DType::kF16, {"n"});
  const auto some = run(model, {kSome});
  const auto halves = some.at(0).as<std::uint16_t>();
  EXPECT_EQ(std::vector<std::uint16_t>(halves.begin(), halves.end()),
            (std::vector<std::uint16_t>{0x4000, 0x4400, 0x4600, 0, 0, 0}));
  EXPECT_EQ(some.at(1), s64({1}, {3}));
}

// Parts are named after nodes of the file, also those of an output that none of them gives.
TEST(CountedOutputs, OfConstantsHavePartsOfANode) {
  ModelBuilder model = positives();
  model.node("Shape", {"at"}, {"shape"});
  model.node("ConstantOfShape", {"shape"}, {"ones"}, {{"value", f32({1}, {1})}}).output("ones");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  for (const Node& node : graph->nodes) EXPECT_GE(node.index, 0) << node.op_type;
  EXPECT_EQ(evaluate(*graph, {kSome}),
            (std::vector{f32({6, 2}, {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}), s64({2}, {3, 2})}));
}

TEST(CountedOutputs, WithoutElementsHaveAShapeToo) {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {3, 0}).input("flags", DType::kBool, {3});
  model.node("Compress", {"x", "flags"}, {"y"}, {{"axis", std::int64_t{0}}}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  ASSERT_EQ(graph->outputs.size(), 2U);
  for (const Node& node : graph->nodes) EXPECT_GE(node.index, 0) << node.op_type;
}

TEST(CountedOutputs, ListsOfSizesHaveTheNumberOfRows) {
  ModelBuilder model = positives();
  model.node("Shape", {"found"}, {"shape"}).output("shape");
  EXPECT_EQ(run(model, {kSome}), std::vector<Tensor>{s64({2}, {2, 3})});
}

TEST(CountedOutputs, TheirNumberInATableHasItsAxes) {
  ModelBuilder model = positives();
  model.node("Shape", {"at"}, {"shape"}).initializer("first", s64({}, {0}));
  model.initializer("axes", s64({2}, {0, 1})).node("Gather", {"shape", "first"}, {"number"});
  model.node("Unsqueeze", {"number", "axes"}, {"table"}).output("table");
  EXPECT_EQ(run(model, {kSome}), std::vector<Tensor>{s64({1, 1}, {3})});
}

TEST(CountedRows, BecomeOneListAndRowsAgain) {
  ModelBuilder model = positives();
  model.initializer("flat", s64({1}, {-1})).initializer("two", s64({2}, {-1, 2}));
  model.node("Reshape", {"at", "flat"}, {"list"}).node("Neg", {"list"}, {"minus"});
  model.node("Reshape", {"minus", "two"}, {"rows"}).node("Add", {"rows", "at"}, {"nothing"});
  model.node("ReduceSum", {"list"}, {"sum"}).output("list").output("nothing").output("sum");
  const auto some = run(model, {kSome});
  EXPECT_EQ(some[0], s64({12}, {0, 1, 1, 0, 1, 2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(some[1], s64({6, 2}, std::vector<std::int64_t>(12, 0)));
  EXPECT_EQ(some[2], s64({1}, {5}));
  EXPECT_EQ(some[3], s64({1}, {6}));
  EXPECT_EQ(some[4], s64({2}, {3, 2}));
}

TEST(CountedRows, ThatCouldNotStayInOrderAreRefused) {
  const auto refuses = [](const Shape& size, const char* value) {
    ModelBuilder model = positives();
    model.initializer("size", s64({static_cast<std::int64_t>(size.size())}, size));
    const std::string said =
        errors_of_outputs(model.node("Reshape", {value, "size"}, {"y"}).output("y"));
    EXPECT_NE(said.find("node #3 (Reshape): reads a value with"), std::string::npos) << said;
  };
  refuses({-1}, "found");     // the columns of two rows, one after the other
  refuses({2, 3, -1}, "at");  // fixed sizes before their number
  refuses({1, 0, -1}, "at");  // copies the 2, and the rest is their number
  refuses({12}, "at");        // a number that is written out
}

// Two coordinates for at most two rows: which of both sizes is their number?
TEST(CountedRows, ACopiedSizeIsNotTheirNumber) {
  ModelBuilder model(17);
  model.input("x", DType::kBool, {1, 2}).node("NonZero", {"x"}, {"found"});
  model.node("Transpose", {"found"}, {"at"}).initializer("size", s64({3}, {1, 0, -1}));
  const std::string said =
      errors_of_outputs(model.node("Reshape", {"at", "size"}, {"y"}).output("y"));
  EXPECT_NE(said.find("node #2 (Reshape): reads a value with"), std::string::npos) << said;
}

TEST(CountedRows, SizeIsTheNumberOfTheirElements) {
  ModelBuilder model = positives();
  EXPECT_EQ(run(model.node("Size", {"at"}, {"n"}).output("n"), {kSome}),
            std::vector<Tensor>{s64({}, {6})});
}

TEST(CountedRows, SliceOfAListOfSizes) {
  ModelBuilder model = positives();
  model.node("Shape", {"at"}, {"shape"}).initializer("at0", s64({1}, {0}));
  model.initializer("at1", s64({1}, {1})).initializer("end", s64({1}, {INT64_MAX}));
  model.node("Slice", {"shape", "at0", "at1"}, {"n"}).node("Slice", {"shape", "at1", "end"}, {"k"});
  model.node("ConstantOfShape", {"n"}, {"ones"}, {{"value", f32({1}, {1})}});
  model.node("ReduceSum", {"ones"}, {"sum"}).output("sum").output("k").output("n");
  const auto some = run(model, {kSome});
  EXPECT_EQ(some[0], f32({1}, {3}));
  EXPECT_EQ(some[1], s64({1}, {2}));
  EXPECT_EQ(some[2], s64({1}, {3}));
}

// Limits of one element may have more axes than what they limit, whose axes the result has: that of
// the rows was taken for the second of one.
TEST(CountedRows, LimitsAddNoAxes) {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {4}).input("flags", DType::kBool, {4});
  model.node("Compress", {"x", "flags"}, {"rows"}, {{"axis", std::int64_t{0}}});
  model.initializer("least", f32({1, 1}, {2}));
  model.node("Clip", {"rows", "least"}, {"y"}).output("y");
  Tensor flags(DType::kBool, {4});
  flags.as<std::uint8_t>()[0] = flags.as<std::uint8_t>()[2] = 1;
  const auto some = run(model, {f32({4}, {1, 2, 3, 4}), flags});
  EXPECT_EQ(some.at(0), f32({4}, {2, 3, 0, 0}));
  EXPECT_EQ(some.at(1), s64({1}, {2}));
}

TEST(CountedRows, ANodeWithoutOutputsIsReported) {
  for (const char* type : {"Identity", "ConstantOfShape", "DynamicQuantizeLinear"}) {
    ModelBuilder model = positives();
    model.node("GatherND", {"x", "at"}, {"chosen"}).node("Shape", {"chosen"}, {"size"});
    const bool reads_rows = std::string(type) == "DynamicQuantizeLinear";
    model.node(type, {reads_rows ? "chosen" : "size"}, {});
    model.initializer("most", f32({}, {1})).node("Clip", {"x", "", "most"}, {"y"}).output("y");
    const std::string said = errors_of_outputs(model);
    EXPECT_NE(said.find(cat("node #5 (", type, "): must have ")), std::string::npos) << said;
    EXPECT_EQ(said.find("#6"), std::string::npos) << said;  // which omits an input
  }
}

TEST(CountedRows, SliceWithAStepBothWays) {
  for (const std::int64_t step : {2, -1, -2}) {
    ModelBuilder model(13);
    model.input("x", DType::kF32, {5}).input("a", DType::kS64, {1}).input("b", DType::kS64, {1});
    model.initializer("axis", s64({1}, {0})).initializer("step", s64({1}, {step}));
    model.node("Slice", {"x", "a", "b", "axis", "step"}, {"y"}).output("y");
    const auto slice = [&](std::int64_t from, std::int64_t to) {
      const auto got = run(model, {f32({5}, {1, 2, 3, 4, 5}), s64({1}, {from}), s64({1}, {to})});
      const auto all = got.at(0).as<float>();
      return std::vector<float>(all.begin(), all.begin() + got.at(1).integer(0));
    };
    using Floats = std::vector<float>;
    EXPECT_EQ(slice(0, 5), step == 2 ? Floats({1, 3, 5}) : Floats());
    EXPECT_EQ(slice(1, -1), step == 2 ? Floats({2, 4}) : Floats());
    EXPECT_EQ(slice(9, -9), step == 2    ? Floats()
                            : step == -1 ? Floats({5, 4, 3, 2, 1})
                                         : Floats({5, 3, 1}));
    EXPECT_EQ(slice(3, 0), step == 2 ? Floats() : step == -1 ? Floats({4, 3, 2}) : Floats({4, 2}));
  }
}

TEST(CountedRows, BranchesReadThem) {
  ModelBuilder model = positives();
  model.node("GatherND", {"x", "at"}, {"chosen"}).input("which", DType::kBool, {});
  ModelBuilder sum(17), most(17);
  sum.node("ReduceSum", {"chosen"}, {"s"}, {{"keepdims", std::int64_t{0}}}).output("s");
  most.node("Neg", {"chosen"}, {"minus"});
  most.node("ReduceMax", {"minus"}, {"m"}, {{"keepdims", std::int64_t{0}}}).output("m");
  model.node("If", {"which"}, {"y"}).subgraph("then_branch", sum).subgraph("else_branch", most);
  model.output("y");
  Tensor yes(DType::kBool, {}), no(DType::kBool, {});
  yes.as<std::uint8_t>()[0] = 1;
  EXPECT_EQ(run(model, {kSome, yes}).at(0), f32({}, {12}));
  EXPECT_EQ(run(model, {kSome, no}).at(0), f32({}, {-2}));
}

// x, and all outputs of Unique.
ModelBuilder unique(const std::vector<Dim>& x, const std::map<std::string, Attribute>& attributes) {
  ModelBuilder model(17);
  model.input("x", DType::kF32, x).node("Unique", {"x"}, {"y", "i", "r", "c"}, attributes);
  return model.output("y").output("i").output("r").output("c");
}

// The examples of ONNX's definition.
TEST(CountedRows, UniqueElementsInTheirOrder) {
  ModelBuilder model = unique({6}, {{"sorted", std::int64_t{0}}});
  const auto got = run(model, {f32({6}, {2, 1, 1, 3, 4, 3})});
  EXPECT_EQ(got[0], f32({6}, {2, 1, 3, 4, 0, 0}));
  EXPECT_EQ(got[1], s64({6}, {0, 1, 3, 4, 0, 0}));
  EXPECT_EQ(got[2], s64({6}, {0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(got[3], s64({6}, {1, 2, 2, 1, 0, 0}));
  EXPECT_EQ(got[4], s64({1}, {4}));
}

TEST(CountedRows, UniqueElementsSorted) {
  ModelBuilder model = unique({2, 2}, {});
  const auto got = run(model, {f32({2, 2}, {1, 3, 2, 3})});
  EXPECT_EQ(got[0], f32({4}, {1, 2, 3, 0}));
  EXPECT_EQ(got[1], s64({4}, {0, 2, 1, 0}));
  EXPECT_EQ(got[2], s64({4}, {0, 2, 1, 2}));
  EXPECT_EQ(got[3], s64({4}, {1, 1, 2, 0}));
}

TEST(CountedRows, UniqueSlices) {
  ModelBuilder model = unique({3, 3}, {{"axis", std::int64_t{0}}});
  const auto got = run(model, {f32({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4})});
  EXPECT_EQ(got[0], f32({3, 3}, {1, 0, 0, 2, 3, 4, 0, 0, 0}));
  EXPECT_EQ(got[1], s64({3}, {0, 2, 0}));  // the first of equal ones
  EXPECT_EQ(got[2], s64({3}, {0, 0, 1}));
  EXPECT_EQ(got[3], s64({3}, {2, 1, 0}));
  EXPECT_EQ(got[4], s64({2}, {2, 3}));
  ModelBuilder columns = unique({2, 3}, {{"axis", std::int64_t{1}}});
  const auto turned = run(columns, {f32({2, 3}, {4, 1, 4, 0, 5, 0})});
  EXPECT_EQ(turned[0], f32({2, 3}, {1, 4, 0, 5, 0, 0}));
  EXPECT_EQ(turned[1], s64({3}, {1, 0, 0}));
  EXPECT_EQ(turned[2], s64({3}, {1, 0, 1}));
}

// As with more elements, so that code for several sizes has the same outputs at each.
TEST(CountedRows, UniqueOfOneElementHasShapes) {
  ModelBuilder model = unique({1}, {});
  const Tensor one = s64({1}, {1});
  EXPECT_EQ(run(model, {f32({1}, {7})}),
            (std::vector<Tensor>{f32({1}, {7}), s64({1}, {0}), s64({1}, {0}), one, one, one, one}));
}

TEST(CountedRows, UniqueOfAConstantIsOne) {
  for (const bool sorted : {true, false}) {
    ModelBuilder model(17);
    model.initializer("x", f32({3, 2}, {5, 6, 1, 2, 5, 6})).input("a", DType::kS64, {1});
    model.node("Unique", {"x"}, {"y", "i", "r", "c"},
               {{"axis", std::int64_t{0}}, {"sorted", std::int64_t{sorted ? 1 : 0}}});
    model.node("Add", {"r", "a"}, {"s"}).output("y").output("i").output("s").output("c");
    const auto got = run(model, {s64({1}, {0})});
    EXPECT_EQ(got[0], sorted ? f32({2, 2}, {1, 2, 5, 6}) : f32({2, 2}, {5, 6, 1, 2}));
    EXPECT_EQ(got[1], sorted ? s64({2}, {1, 0}) : s64({2}, {0, 1}));
    EXPECT_EQ(got[2], sorted ? s64({3}, {1, 0, 1}) : s64({3}, {0, 1, 0}));
    EXPECT_EQ(got[3], sorted ? s64({2}, {1, 2}) : s64({2}, {2, 1}));
  }
}

// Each is a value of its own, and equal slices around it are one.
TEST(CountedRows, UniqueWithNaN) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = f32({5, 2}, {1, none, 1, 2, 1, none, 1, 2, none, 0});
  for (const bool is_constant : {true, false}) {
    ModelBuilder model(17);
    if (is_constant) {
      model.initializer("x", x).input("a", DType::kS64, {1});
    } else {
      model.input("x", DType::kF32, {5, 2});
    }
    model.node("Unique", {"x"}, {"y", "i", "r", "c"}, {{"axis", std::int64_t{0}}});
    if (is_constant) {
      model.node("Add", {"r", "a"}, {"s"}).output("s").output("c");
      const auto got = run(model, {s64({1}, {0})});
      EXPECT_EQ(got[0], s64({5}, {1, 0, 2, 0, 3}));
      EXPECT_EQ(got[1], s64({4}, {2, 1, 1, 1}));
    } else {
      const auto got = run(model.output("r").output("c"), {x});
      EXPECT_EQ(got[0], s64({5}, {1, 0, 2, 0, 3}));
      EXPECT_EQ(got[1], s64({5}, {2, 1, 1, 1, 0}));
    }
  }
}

TEST(CountedRows, UniqueOfSomeOutputs) {
  ModelBuilder model(17);
  model.input("x", DType::kS64, {3}).node("Unique", {"x"}, {"y", "", "r"}).output("r");
  EXPECT_EQ(run(model, {s64({3}, {7, 2, 7})}), std::vector<Tensor>{s64({3}, {1, 0, 1})});
  ModelBuilder fixed(17);  // the file knows how many there are
  fixed.input("x", DType::kS64, {3}).node("Unique", {"x"}, {"y", "", "", "c"});
  EXPECT_NE(errors_of_outputs(fixed.output("c", DType::kS64, {2}))
                .find("(X): must be known at compile time"),
            std::string::npos);
}

TEST(CountedRows, UniqueOfTooManyLongSlicesIsRefused) {
  ModelBuilder model = unique({1024, 2}, {{"axis", std::int64_t{0}}});
  EXPECT_EQ(errors_of_outputs(model),
            "model: error[E-LIMIT]: node #0 (Unique): compares 1024 slices of 2 elements with each "
            "other; more than 1048576 comparisons cannot be compiled\n");
}

}  // namespace
}  // namespace etch
