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

std::string errors_of_counting(ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

// x [2, 3] and the coordinates [n, 2] of its elements above 0.
ModelBuilder positives(std::int64_t opset = 17) {
  ModelBuilder model(opset);
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
      "reads a value with 0 to 6 rows, as many as node #1 (NonZero) finds at run time; operators "
      "that treat each row alone, sums, means and maxima of them, and Scatter can be compiled, "
      "this cannot\n";
  ModelBuilder sorts = positives();
  sorts.node("GatherND", {"x", "at"}, {"chosen"});
  sorts.node("Softmax", {"chosen"}, {"y"}, {{"axis", std::int64_t{0}}}).output("y");
  EXPECT_EQ(errors_of_counting(sorts),
            cat("model: error[E-UNSUPPORTED]: node #4 (Softmax): ", reads));
  ModelBuilder adds = positives();  // as many values as rows at most
  adds.initializer("six", f32({6}, {1, 2, 3, 4, 5, 6})).node("GatherND", {"x", "at"}, {"chosen"});
  adds.node("Add", {"chosen", "six"}, {"y"}).output("y");
  EXPECT_EQ(errors_of_counting(adds), cat("model: error[E-UNSUPPORTED]: node #4 (Add): ", reads));
  ModelBuilder fixes = positives();
  fixes.initializer("size", s64({2}, {6, 2})).node("Reshape", {"at", "size"}, {"y"}).output("y");
  EXPECT_EQ(errors_of_counting(fixes),
            cat("model: error[E-UNSUPPORTED]: node #3 (Reshape): ", reads));
}

TEST(CountedRows, SizesThatMoveElementsAreRefused) {
  const auto refuses = [](ModelBuilder& model, const char* node) {
    model.output("y");
    const std::string text = errors_of_counting(model);
    EXPECT_TRUE(text.find(node) != std::string::npos && text.find("0 to 6 rows") < text.size())
        << text;
  };
  ModelBuilder turns = positives();  // [2, n] in the order of [n, 2]
  turns.node("Shape", {"found"}, {"shape"}).initializer("order", s64({2}, {1, 0}));
  turns.node("Gather", {"shape", "order"}, {"size"}).node("Reshape", {"found", "size"}, {"y"});
  refuses(turns, "node #5 (Reshape)");
  ModelBuilder divides = positives();  // [n, -1] of as many elements as there are always
  divides.node("GatherND", {"x", "at"}, {"chosen"}).node("Shape", {"chosen"}, {"n"});
  divides.initializer("rest", s64({1}, {-1}));
  divides.node("Concat", {"n", "rest"}, {"size"}, {{"axis", std::int64_t{0}}});
  divides.initializer("data", Tensor(DType::kF32, {36}));
  divides.node("Reshape", {"data", "size"}, {"y"});
  refuses(divides, "node #6 (Reshape)");
  ModelBuilder wraps = positives();  // a list of sizes as a row of a matrix
  wraps.node("Shape", {"found"}, {"shape"}).initializer("axis", s64({1}, {0}));
  wraps.node("Unsqueeze", {"shape", "axis"}, {"lists"}).initializer("first", s64({}, {0}));
  wraps.node("Gather", {"lists", "first"}, {"size"}).node("ConstantOfShape", {"size"}, {"y"});
  refuses(wraps, "node #4 (Unsqueeze)");
}

// Where the number is 1, Expand to it leaves the six; one row becomes as many as others are.
TEST(CountedRows, ExpandToTheirNumberRepeatsOneOrTheirOwn) {
  ModelBuilder six = positives();
  six.node("GatherND", {"x", "at"}, {"chosen"}).node("Shape", {"chosen"}, {"n"});
  six.initializer("six", f32({6}, {1, 2, 3, 4, 5, 6})).node("Expand", {"six", "n"}, {"y"});
  EXPECT_NE(errors_of_counting(six.output("y")).find("node #5 (Expand)"), std::string::npos);
  ModelBuilder others = positives();
  others.node("GatherND", {"x", "at"}, {"chosen"}).input("keep", DType::kBool, {6});
  others.initializer("all", s64({1}, {-1})).node("Reshape", {"x", "all"}, {"flat"});
  others.node("Compress", {"flat", "keep"}, {"rows"}).node("Shape", {"rows"}, {"m"});
  others.node("Expand", {"chosen", "m"}, {"y"});
  EXPECT_NE(errors_of_counting(others.output("y")).find("node #7 (Expand)"), std::string::npos);
  ModelBuilder own = positives();
  own.node("Shape", {"at"}, {"shape"}).initializer("first", s64({1}, {0}));
  own.node("Gather", {"at", "first"}, {"rows"}, {{"axis", std::int64_t{1}}});
  own.node("Expand", {"rows", "shape"}, {"wide"}).initializer("axis", s64({1}, {0}));
  own.node("ReduceSum", {"wide", "axis"}, {"y"});
  EXPECT_EQ(run(own.output("y"), {kSome}).at(0), s64({1, 2}, {2, 2}));
}

TEST(CountedRows, ReshapeByTheirNumberAndToSizesThatEqualTheBound) {
  ModelBuilder model = positives();
  model.node("Cast", {"at"}, {"rows"}, {{"to", std::int64_t{1}}});
  model.initializer("w", f32({2, 6}, {1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2}));
  model.node("MatMul", {"rows", "w"}, {"wide"}).initializer("halves", s64({3}, {-1, 2, 3}));
  model.node("Reshape", {"wide", "halves"}, {"split"}).initializer("six", s64({2}, {-1, 6}));
  model.node("Reshape", {"split", "six"}, {"together"}).node("Shape", {"wide"}, {"shape"});
  model.node("Reshape", {"split", "shape"}, {"same"}).node("Add", {"together", "same"}, {"both"});
  model.initializer("axes", s64({2}, {0, 1})).node("ReduceSum", {"both", "axes"}, {"sum"});
  EXPECT_EQ(run(model.output("sum"), {kSome}).at(0), f32({1, 1}, {2 * 6 * (2 + 1 + 5)}));
}

TEST(CountedRows, ReductionsOfNoAxesAndOfAxesOfRunTime) {
  ModelBuilder model = positives(18);
  model.node("GatherND", {"x", "at"}, {"chosen"});
  model.node("ReduceSumSquare", {"chosen"}, {"squares"},
             {{"noop_with_empty_axes", std::int64_t{1}}});
  model.node("ReduceMax", {"squares"}, {"most"}).output("most");
  EXPECT_EQ(run(model, {kSome}).at(0), f32({1}, {36}));
  ModelBuilder other = positives();
  other.input("axis", DType::kS64, {1}).node("ReduceSum", {"at", "axis"}, {"y"}).output("y");
  EXPECT_NE(errors_of_counting(other).find("node #3 (ReduceSum): reads a value with"),
            std::string::npos);
}

// Of one row it takes the axis of the rows as well.
TEST(CountedRows, SqueezeNeedsAxes) {
  ModelBuilder model = positives();
  model.initializer("one", s64({1}, {1})).node("Unsqueeze", {"at", "one"}, {"wide"});
  EXPECT_NE(errors_of_counting(model.node("Squeeze", {"wide"}, {"y"}).output("y"))
                .find("node #4 (Squeeze): reads a value with"),
            std::string::npos);
}

// As h[mask] * p[mask] is exported.
TEST(CountedRows, EquallyManyOfTheSameFlags) {
  ModelBuilder model = positives();
  model.node("NonZero", {"flags"}, {"again"});
  model.node("Transpose", {"again"}, {"there"}, {{"perm", Ints{1, 0}}});
  model.node("Sub", {"zero", "x"}, {"minus"}).node("GatherND", {"minus", "there"}, {"others"});
  model.node("GatherND", {"x", "at"}, {"chosen"}).node("Mul", {"chosen", "others"}, {"squares"});
  model.node("ReduceSum", {"squares"}, {"sum"}).output("sum");
  EXPECT_EQ(run(model, {kSome}).at(0), f32({1}, {-56}));
  ModelBuilder two = positives();
  two.node("Less", {"x", "zero"}, {"less"}).node("NonZero", {"less"}, {"negative"});
  two.node("Add", {"found", "negative"}, {"y"}).output("y");
  EXPECT_NE(errors_of_counting(two).find("node #5 (Add): reads a value with"), std::string::npos);
}

TEST(CountedRows, ShapeLimitsWhereItStarts) {
  ModelBuilder model = positives();
  model.node("Shape", {"at"}, {"shape"}, {{"start", std::int64_t{-9}}, {"end", std::int64_t{9}}});
  model.initializer("first", s64({}, {0})).node("Gather", {"shape", "first"}, {"n"});
  model.node("Cast", {"n"}, {"count"}, {{"to", std::int64_t{1}}}).output("count");
  EXPECT_EQ(run(model, {kSome}).at(0), f32({}, {3}));
}

TEST(CountedRows, SliceUpToTheirNumber) {
  ModelBuilder model = positives();
  model.node("GatherND", {"x", "at"}, {"chosen"}).node("Shape", {"chosen"}, {"n"});
  model.initializer("powers", s64({6}, {1, 2, 4, 8, 16, 32})).initializer("zero1", s64({1}, {0}));
  model.node("Slice", {"powers", "zero1", "n"}, {"y"}).node("ReduceSum", {"y"}, {"sum"});
  model.output("sum");
  EXPECT_EQ(run(model, {kSome}).at(0), s64({1}, {7}));
  EXPECT_EQ(run(model, {kNone}).at(0), s64({1}, {0}));
}

// Constants of float16 and float64 are read through a Cast.
TEST(CountedRows, ConstantsOfOtherFloatsKeepTheirRows) {
  for (const bool is_half : {true, false}) {
    ModelBuilder model = positives();
    model.node("GatherND", {"x", "at"}, {"chosen"}).node("Shape", {"chosen"}, {"n"});
    Tensor half(is_half ? DType::kF16 : DType::kF64, {1});
    is_half ? void(half.as<std::uint16_t>()[0] = 0x3800) : void(half.as<double>()[0] = 0.5);
    model.node("ConstantOfShape", {"n"}, {"halves"}, {{"value", half}}).initializer("half", half);
    model.node("Add", {"halves", "half"}, {"ones"});
    model.node("Cast", {"ones"}, {"floats"}, {{"to", std::int64_t{1}}});
    model.node("ReduceSum", {"floats"}, {"sum"}).output("sum");
    EXPECT_EQ(run(model, {kSome}).at(0), f32({1}, {3})) << is_half;
  }
}

TEST(CountedRows, StatisticsOfTrainingAreRefused) {
  ModelBuilder model = positives();
  model.node("Cast", {"at"}, {"rows"}, {{"to", std::int64_t{1}}});
  for (const char* name : {"scale", "bias", "mean", "var"})
    model.initializer(name, f32({2}, {1, 1}));
  model.node("BatchNormalization", {"rows", "scale", "bias", "mean", "var"}, {"y"},
             {{"training_mode", std::int64_t{1}}});
  EXPECT_NE(errors_of_counting(model.output("y"))
                .find("node #4 (BatchNormalization): reads a value with"),
            std::string::npos);
}

TEST(CountedRows, WhatIsMissingOrWrongIsNamed) {
  const auto says = [](ModelBuilder& model, const std::string& what) {
    EXPECT_EQ(errors_of_counting(model.output("y")), cat("model: error[", what, "\n"));
  };
  ModelBuilder one = positives();
  says(one.node("Gather", {"found"}, {"y"}),
       "E-GRAPH]: node #3 (Gather): must have 2 inputs, has 1");
  ModelBuilder none = positives();
  says(none.node("Gather", {"", "at"}, {"y"}),
       "E-GRAPH]: node #3 (Gather): input 0 is required, but omitted");
  ModelBuilder data(17);
  data.input("flags", DType::kBool, {3}).node("Compress", {"", "flags"}, {"y"});
  says(data, "E-GRAPH]: node #0 (Compress): input 0 is required, but omitted");
  ModelBuilder range = positives();
  EXPECT_NE(errors_of_counting(
                range.node("DynamicQuantizeLinear", {"x", "at"}, {"q", "s", "z"}).output("q"))
                .find("node #3 (DynamicQuantizeLinear)"),
            std::string::npos);
  for (const std::int64_t axis : {100, -100}) {
    ModelBuilder flat = positives();
    flat.node("Flatten", {"at"}, {"y"}, {{"axis", axis}}).output("y");
    EXPECT_NE(errors_of_counting(flat).find("node #3 (Flatten)"), std::string::npos);
  }
  ModelBuilder slice(17);
  slice.input("x", DType::kF32, {4}).input("from", DType::kS64, {1}).input("to", DType::kS64, {1});
  slice.initializer("axis", f32({1}, {0})).node("Slice", {"x", "from", "to", "axis"}, {"y"});
  EXPECT_NE(errors_of_counting(slice.output("y")).find("node #0 (Slice)"), std::string::npos);
  ModelBuilder many(17);
  many.input("x", DType::kF32, {1 << 21}).input("flags", DType::kBool, {1 << 21});
  says(many.node("Compress", {"x", "flags"}, {"y"}),
       "E-LIMIT]: node #0 (Compress): has as many rows as values say at run time, at most 2097152; "
       "more than 1048576 cannot be compiled");
}

TEST(CountedRows, TheirNumberCanBeAnOutput) {
  ModelBuilder model = positives();
  model.node("Shape", {"at"}, {"shape"}).initializer("first", s64({}, {0}));
  model.node("Gather", {"shape", "first"}, {"n"}).initializer("axis", s64({1}, {0}));
  model.node("Unsqueeze", {"n", "axis"}, {"list"}).output("n").output("list");
  EXPECT_EQ(run(model, {kSome}), (std::vector<Tensor>{s64({}, {3}), s64({1}, {3})}));
  EXPECT_EQ(run(model, {kNone}).at(0), s64({}, {0}));
}

TEST(CountedRows, AnOutputWhoseSizeTheFileStatesNeedsTheConstantThatDecidesIt) {
  ModelBuilder model;
  model.input("x", DType::kBool, {2, 2}).node("NonZero", {"x"}, {"y"});
  const std::string said = errors_of_counting(model.output("y", DType::kS64, {2, 3}));
  EXPECT_NE(said.find("give it with --constant x="), std::string::npos) << said;
}

}  // namespace
}  // namespace etch
