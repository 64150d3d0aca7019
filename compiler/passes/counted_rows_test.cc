// Values with as many rows as other values say: results for no row, some and all, by the references
// of what stands for them, against values worked out by hand; and what is refused.
#include "compiler/passes/counted_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::vector<Tensor> run(ModelBuilder& model, const std::vector<Tensor>& inputs) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  return graph ? evaluate(*graph, inputs) : std::vector<Tensor>(4);
}

std::string errors(ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

// x [2, 3] and the coordinates [n, 2] of its elements above 0.
ModelBuilder positives() {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2, 3}).initializer("zero", f32({}, {0}));
  model.node("Greater", {"x", "zero"}, {"flags"}).node("NonZero", {"flags"}, {"found"});
  model.node("Transpose", {"found"}, {"at"}, {{"perm", Ints{1, 0}}});
  return model;
}

const Tensor kNone = f32({2, 3}, {-1, -2, 0, -4, -5, -6});
const Tensor kSome = f32({2, 3}, {-1, 2, -3, 4, -5, 6});
const Tensor kAll = f32({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(CountedRows, SumsMeansAndLimitsAreThoseOfTheRowsThatCount) {
  ModelBuilder model = positives();
  model.node("GatherND", {"x", "at"}, {"chosen"});
  model.initializer("axis", s64({1}, {0})).node("ReduceSum", {"chosen", "axis"}, {"sum"});
  model.node("ReduceMean", {"chosen"}, {"mean"}, {{"keepdims", std::int64_t{0}}});
  model.node("ReduceMax", {"chosen"}, {"max"}).node("ReduceMin", {"chosen"}, {"min"});
  model.node("ReduceProd", {"chosen"}, {"product"});
  for (const char* name : {"sum", "mean", "max", "min", "product"}) model.output(name);
  const auto some = run(model, {kSome});
  EXPECT_EQ(some.at(0), f32({1}, {12}));
  EXPECT_EQ(some.at(1), f32({}, {4}));
  EXPECT_EQ(some.at(2), f32({1}, {6}));
  EXPECT_EQ(some.at(3), f32({1}, {2}));
  EXPECT_EQ(some.at(4), f32({1}, {48}));
  EXPECT_EQ(run(model, {kNone}).at(0), f32({1}, {0}));
  EXPECT_EQ(run(model, {kNone}).at(2), f32({1}, {-INFINITY}));
  EXPECT_EQ(run(model, {kAll}).at(1), f32({}, {3.5F}));
}

TEST(CountedRows, LimitsOfIntegersBeginAtTheEndsOfTheirType) {
  ModelBuilder model = positives();
  model.node("ReduceMax", {"at"}, {"max"}).node("ReduceMin", {"at"}, {"min"});
  model.output("max").output("min");
  EXPECT_EQ(run(model, {kSome}).at(0), s64({1, 1}, {2}));
  EXPECT_EQ(run(model, {kNone}).at(0), s64({1, 1}, {INT64_MIN}));
  EXPECT_EQ(run(model, {kNone}).at(1), s64({1, 1}, {INT64_MAX}));
}

TEST(CountedRows, ScatterWritesTheRowsThatCountOnly) {
  ModelBuilder model = positives();
  model.node("GatherND", {"x", "at"}, {"chosen"}).node("Neg", {"chosen"}, {"new"});
  model.initializer("data", f32({2, 3}, {10, 20, 30, 40, 50, 60}));
  model.node("ScatterND", {"data", "at", "new"}, {"lists"});
  model.initializer("split", s64({2}, {1, 1}));
  model.node("Split", {"at", "split"}, {"row", "column"}, {{"axis", std::int64_t{1}}});
  model.initializer("one", s64({1}, {1})).node("Squeeze", {"column", "one"}, {"c"});
  model.initializer("bins", f32({3}, {1, 1, 1}));
  model.node("ScatterElements", {"bins", "c", "chosen"}, {"sums"},
             {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}});
  model.output("lists").output("sums");
  const auto some = run(model, {kSome});
  EXPECT_EQ(some.at(0), f32({2, 3}, {10, -2, 30, -4, 50, -6}));
  EXPECT_EQ(some.at(1), f32({3}, {5, 3, 7}));
  const auto none = run(model, {kNone});
  EXPECT_EQ(none.at(0), f32({2, 3}, {10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(none.at(1), f32({3}, {1, 1, 1}));
}

TEST(CountedRows, CompressAlongAnAxisAndOfAllElements) {
  for (const bool along : {true, false}) {
    ModelBuilder model(13);
    model.input("x", DType::kF32, {2, 3}).input("flags", DType::kBool, {3});
    if (along) {
      model.node("Compress", {"x", "flags"}, {"y"}, {{"axis", std::int64_t{1}}});
    } else {
      model.node("Compress", {"x", "flags"}, {"y"});
    }
    model.initializer("axes", s64({1}, {along ? 1 : 0})).node("ReduceSum", {"y", "axes"}, {"sum"});
    Tensor flags(DType::kBool, {3});
    flags.as<std::uint8_t>()[0] = flags.as<std::uint8_t>()[2] = 1;
    const Tensor sum = run(model.output("sum"), {kAll, flags}).at(0);
    EXPECT_EQ(sum, along ? f32({2, 1}, {4, 10}) : f32({1}, {4}));
  }
}

// As EmbeddingBag: positions of run time, also counted from the end and beyond it.
TEST(CountedRows, SliceBetweenPositionsOfRunTime) {
  ModelBuilder model(13);
  model.input("x", DType::kF32, {4}).input("from", DType::kS64, {1}).input("to", DType::kS64, {1});
  model.initializer("axis", s64({1}, {0})).node("Slice", {"x", "from", "to", "axis"}, {"y"});
  model.node("ReduceSum", {"y", "axis"}, {"sum"}).output("sum");
  const Tensor x = f32({4}, {1, 2, 4, 8});
  const auto sum = [&](std::int64_t from, std::int64_t to) {
    return run(model, {x, s64({1}, {from}), s64({1}, {to})}).at(0).as<float>()[0];
  };
  EXPECT_EQ(sum(1, 3), 6);
  EXPECT_EQ(sum(-2, INT64_MAX), 12);
  EXPECT_EQ(sum(-9, -3), 1);
  EXPECT_EQ(sum(3, 1), 0);
  EXPECT_EQ(sum(4, 4), 0);
}

TEST(CountedRows, BoxesAreAsManyAsThereCanBe) {
  ModelBuilder model(13);
  model.input("boxes", DType::kF32, {1, 3, 4}).input("scores", DType::kF32, {1, 1, 3});
  model.initializer("most", s64({1}, {2})).initializer("iou", f32({1}, {0.5F}));
  model.initializer("least", f32({1}, {0.25F}));
  model.node("NonMaxSuppression", {"boxes", "scores", "most", "iou", "least"}, {"found"});
  model.initializer("column", s64({1}, {2}));
  model.node("Gather", {"found", "column"}, {"box"}, {{"axis", std::int64_t{1}}});
  model.initializer("flat", s64({1}, {-1})).node("Reshape", {"scores", "flat"}, {"values"});
  model.node("Gather", {"values", "box"}, {"chosen"}).node("ReduceSum", {"chosen"}, {"sum"});
  const Tensor boxes = f32({1, 3, 4}, {0, 0, 1, 1, 5, 5, 6, 6, 9, 9, 10, 10});
  model.output("sum");
  EXPECT_EQ(run(model, {boxes, f32({1, 1, 3}, {0.5F, 1, 0.75F})}).at(0), f32({1, 1}, {1.75F}));
  EXPECT_EQ(run(model, {boxes, f32({1, 1, 3}, {0.5F, 0, 0})}).at(0), f32({1, 1}, {0.5F}));
}

TEST(CountedRows, ShapeIsTheirNumberOrASizeOfOthers) {
  ModelBuilder model = positives();
  model.node("Shape", {"at"}, {"shape"}).initializer("first", s64({}, {0}));
  model.node("Gather", {"shape", "first"}, {"n"});
  model.node("Cast", {"n"}, {"count"}, {{"to", std::int64_t{1}}});
  model.initializer("none", s64({}, {0})).initializer("step", s64({}, {1}));
  model.node("Range", {"none", "n", "step"}, {"numbers"});
  model.initializer("axis", s64({1}, {0})).node("ReduceSum", {"numbers", "axis"}, {"sum"});
  model.initializer("value", f32({1, 1}, {0.5F})).node("Expand", {"value", "shape"}, {"wide"});
  model.node("ReduceSum", {"wide", "axis"}, {"halves"});
  model.output("count").output("sum").output("halves");
  const auto some = run(model, {kSome});
  EXPECT_EQ(some.at(0), f32({}, {3}));
  EXPECT_EQ(some.at(1), s64({1}, {3}));
  EXPECT_EQ(some.at(2), f32({1, 2}, {1.5F, 1.5F}));
  EXPECT_EQ(run(model, {kNone}).at(0), f32({}, {0}));
}

TEST(CountedRows, RowsOfProductsAndOfDynamicQuantization) {
  ModelBuilder model = positives();
  model.initializer("table", f32({2, 2}, {127, -100, 255, 0}));
  model.initializer("column", s64({}, {0}));
  model.node("Gather", {"at", "column"}, {"row"}, {{"axis", std::int64_t{1}}});
  model.node("Gather", {"table", "row"}, {"rows"});
  model.node("DynamicQuantizeLinear", {"rows"}, {"q", "scale", "zero_point"});
  model.initializer("w", s8({2, 1}, {1, 2}));
  model.node("MatMulInteger", {"q", "w", "zero_point"}, {"y"});
  model.initializer("axis", s64({1}, {0})).node("ReduceSum", {"y", "axis"}, {"sum"});
  model.output("sum").output("scale");
  // Rows of the second line only: 255 and 0, not the -100 that unused rows would show.
  const auto second = run(model, {f32({2, 3}, {-1, -1, -1, 4, -1, 6})});
  EXPECT_EQ(second.at(1), f32({}, {1}));
  EXPECT_EQ(second.at(0), s32({1, 1}, {510}));
}

TEST(CountedRows, WhatMixesRowsIsRefused) {
  const std::string reads =
      "reads a value with 0 to 6 rows, as many as other values say at run time; operators that "
      "treat each row alone, sums, means and maxima of them, and Scatter can be compiled, this "
      "cannot\n";
  ModelBuilder sorts = positives();
  sorts.node("GatherND", {"x", "at"}, {"chosen"});
  sorts.node("Softmax", {"chosen"}, {"y"}, {{"axis", std::int64_t{0}}}).output("y");
  EXPECT_EQ(errors(sorts), cat("model: error[E-UNSUPPORTED]: node #4 (Softmax): ", reads));
  ModelBuilder adds = positives();  // as many values as rows at most
  adds.initializer("six", f32({6}, {1, 2, 3, 4, 5, 6})).node("GatherND", {"x", "at"}, {"chosen"});
  adds.node("Add", {"chosen", "six"}, {"y"}).output("y");
  EXPECT_EQ(errors(adds), cat("model: error[E-UNSUPPORTED]: node #4 (Add): ", reads));
  ModelBuilder fixes = positives();
  fixes.initializer("size", s64({2}, {6, 2})).node("Reshape", {"at", "size"}, {"y"}).output("y");
  EXPECT_EQ(errors(fixes), cat("model: error[E-UNSUPPORTED]: node #3 (Reshape): ", reads));
}

TEST(CountedRows, OutputsHaveFixedShapes) {
  ModelBuilder model = positives();
  EXPECT_EQ(errors(model.output("at")),
            "model: error[E-UNSUPPORTED]: output 'at': has 0 to 6 rows, as many as other values "
            "say at run time, and outputs have fixed shapes; cut the network before it (--cut "
            "NAME)\n");
}

}  // namespace
}  // namespace etch
