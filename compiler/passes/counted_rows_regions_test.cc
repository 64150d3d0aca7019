// Counted rows in Loop, Scan and If: read from around, made inside, carried, given by branches; and
// what is refused.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

constexpr DType kF = DType::kF32;

std::vector<Tensor> run(const ModelBuilder& model, const std::vector<Tensor>& inputs) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  return graph ? evaluate(*graph, inputs) : std::vector<Tensor>(4);
}

std::string errors(const ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

Tensor truth(bool value) {
  Tensor out(DType::kBool, {});
  out.as<std::uint8_t>()[0] = value ? 1 : 0;
  return out;
}

// x [4] and those of its elements that are above 0, [n].
ModelBuilder positives() {
  ModelBuilder model(17);
  model.input("x", kF, {4}).initializer("zero", f32({}, {0}));
  model.node("Greater", {"x", "zero"}, {"flags"}).node("Compress", {"x", "flags"}, {"found"});
  return model.initializer("n", s64({}, {3})).initializer("yes", truth(true));
}

ModelBuilder body() {
  ModelBuilder out(17);
  return out.input("trip", DType::kS64, {}).input("go", DType::kBool, {});
}

const Tensor kSome = f32({4}, {-1, 2, -3, 4});
const Tensor kNone = f32({4}, {-1, -2, -3, -4});

TEST(CountedRegions, ALoopReadsRowsOfAroundIt) {
  ModelBuilder model = positives(), in = body();
  in.input("h", kF, {1}).node("Cast", {"trip"}, {"t"}, {{"to", std::int64_t{1}}});
  in.node("Add", {"found", "t"}, {"more"}).node("ReduceSum", {"more"}, {"sum"});
  in.node("Add", {"h", "sum"}, {"h2"}).output("go").output("h2");
  model.initializer("h0", f32({1}, {0}));
  model.node("Loop", {"n", "yes", "h0"}, {"y"}).subgraph("body", in).output("y");
  EXPECT_EQ(run(model, {kSome}).at(0), f32({1}, {6 + 8 + 10}));
  EXPECT_EQ(run(model, {kNone}).at(0), f32({1}, {0}));
}

TEST(CountedRegions, EachTripCountsRowsOfItsOwn) {
  ModelBuilder model = positives(), in = body();
  in.input("h", DType::kS64, {1}).node("Cast", {"trip"}, {"t"}, {{"to", std::int64_t{1}}});
  in.node("Greater", {"x", "t"}, {"above"}).node("NonZero", {"above"}, {"at"});
  in.node("Shape", {"at"}, {"sizes"}, {{"start", std::int64_t{1}}});
  in.node("Add", {"h", "sizes"}, {"h2"}).output("go").output("h2");
  model.initializer("h0", s64({1}, {0}));
  model.node("Loop", {"n", "yes", "h0"}, {"y"}).subgraph("body", in).output("y");
  EXPECT_EQ(run(model, {f32({4}, {1, 2, -3, 4})}).at(0), s64({1}, {3 + 2 + 1}));
}

// 2 h + 1 three times; and what each trip has.
TEST(CountedRegions, ALoopCarriesThemAndGivesThemInSlices) {
  ModelBuilder model = positives(), in = body();
  in.input("h", kF, {"k"}).initializer("one", f32({}, {1}));
  in.node("Add", {"h", "h"}, {"twice"}).node("Add", {"twice", "one"}, {"h2"});
  in.node("Neg", {"found"}, {"each"}).output("go").output("h2").output("each");
  model.node("Loop", {"n", "yes", "found"}, {"y", "all"}).subgraph("body", in);
  model.output("y").output("all");
  const auto some = run(model, {kSome});
  EXPECT_EQ(some.at(0), f32({4}, {23, 39, 0, 0}));
  EXPECT_EQ(some.at(1), f32({3, 4}, {-2, -4, 0, 0, -2, -4, 0, 0, -2, -4, 0, 0}));
  EXPECT_EQ(some.at(2), s64({1}, {2}));
  EXPECT_EQ(some.at(3), s64({2}, {3, 2}));
  EXPECT_EQ(run(model, {kNone}).at(2), s64({1}, {0}));
}

TEST(CountedRegions, WhoseNumberChangesFromTripToTripAreRefused) {
  ModelBuilder model = positives(), in = body();
  in.input("h", kF, {"k"}).node("Greater", {"h", "zero"}, {"b"});
  in.node("Compress", {"x", "flags"}, {"h2"}).node("Neg", {"x"}, {"u"});
  in.node("Greater", {"u", "zero"}, {"c"}).node("Compress", {"u", "c"}, {"h3"});
  in.output("go").output("h3");
  model.node("Loop", {"n", "yes", "found"}, {"y"}).subgraph("body", in).output("y");
  EXPECT_EQ(errors(model),
            "model: error[E-UNSUPPORTED]: node #2 (Loop): carried value 0 has counted rows, and "
            "a trip must give back as many as it got, by operators that treat each row alone (0 to "
            "4, as many as node #2 (Compress) finds at run time)\n");
  ModelBuilder slices = positives(), each = body();
  each.node("Cast", {"trip"}, {"t"}, {{"to", std::int64_t{1}}}).node("Greater", {"x", "t"}, {"b"});
  each.node("Compress", {"x", "b"}, {"some"}).output("go").output("some");
  slices.node("Loop", {"n", "yes"}, {"y"}).subgraph("body", each).output("y");
  EXPECT_EQ(errors(slices),
            "model: error[E-UNSUPPORTED]: node #2 (Loop): output 0 has a slice of each trip, "
            "whose rows that trip counts: all slices must have as many (0 to 4, as many as node #2 "
            "(Compress) finds at run time)\n");
}

// for i in range(found.size(0)): h = h * 10 + found[i], until h is above a limit.
TEST(CountedRegions, ALoopHasATripForEachRow) {
  for (const bool stops : {false, true}) {
    ModelBuilder model = positives(), in = body();
    model.initializer("h0", f32({}, {0})).initializer("first", s64({}, {0}));
    model.node("Shape", {"found"}, {"sizes"}).node("Gather", {"sizes", "first"}, {"rows"});
    in.input("h", kF, {}).initializer("ten", f32({}, {10})).initializer("limit", f32({}, {20}));
    in.node("Gather", {"found", "trip"}, {"row"}).node("Mul", {"h", "ten"}, {"h1"});
    in.node("Add", {"h1", "row"}, {"h2"}).node("Less", {"h2", "limit"}, {"small"});
    in.output(stops ? "small" : "go").output("h2");
    model.node("Loop", {"rows", "yes", "h0"}, {"y"}).subgraph("body", in).output("y");
    EXPECT_EQ(run(model, {f32({4}, {1, 2, -3, 4})}).at(0), f32({}, {124}));
    EXPECT_EQ(run(model, {f32({4}, {3, 2, -3, 4})}).at(0), f32({}, {stops ? 32.0F : 324.0F}));
    EXPECT_EQ(run(model, {kNone}).at(0), f32({}, {0}));
  }
}

TEST(CountedRegions, ALoopOverRowsWhoseBodyAloneHasAConditionIsRefused) {
  ModelBuilder model = positives(), in = body();
  model.initializer("h0", f32({}, {0})).initializer("first", s64({}, {0}));
  model.node("Shape", {"found"}, {"sizes"}).node("Gather", {"sizes", "first"}, {"rows"});
  in.input("h", kF, {}).initializer("limit", f32({}, {20}));
  in.node("Gather", {"found", "trip"}, {"row"}).node("Add", {"h", "row"}, {"h2"});
  in.node("Less", {"h2", "limit"}, {"small"}).output("small").output("h2");
  model.node("Loop", {"rows", "", "h0"}, {"y"}).subgraph("body", in).output("y");
  EXPECT_EQ(errors(model),
            "model: error[E-UNSUPPORTED]: node #4 (Loop): has no condition, but its body computes "
            "one: by ONNX's rules that has no effect, in ONNX Runtime it ends the loop (0 to 4, as "
            "many as node #1 (Compress) finds at run time)\n");
}

// Row i + 1, or that of another loop, may be beyond those that count.
TEST(CountedRegions, RowsThatNoTripCountsAreRefused) {
  for (const bool over_rows : {false, true}) {
    ModelBuilder model = positives(), in = body();
    model.initializer("h0", f32({}, {0})).initializer("one", s64({}, {1}));
    model.node("Shape", {"found"}, {"rows"});
    in.input("h", kF, {}).node("Add", {"trip", "one"}, {"after"});
    in.node("Gather", {"found", over_rows ? "after" : "trip"}, {"row"});
    in.node("Add", {"h", "row"}, {"h2"}).output("go").output("h2");
    model.node("Loop", {over_rows ? "rows" : "n", "yes", "h0"}, {"y"}).subgraph("body", in);
    EXPECT_EQ(
        errors(model.output("y")),
        "model: error[E-UNSUPPORTED]: node #3 (Gather): reads a value with 0 to 4 rows, as many "
        "as node #1 (Compress) finds at run time; operators that treat each row alone, sums, "
        "means and maxima of them, and Scatter can be compiled, this cannot\n");
  }
}

// The slices [factor * trip + begin, factor * trip + end) of x [2, 8] in each of 3 trips.
ModelBuilder windows(std::int64_t factor, std::int64_t begin, std::int64_t end) {
  ModelBuilder model(17), in = body();
  model.input("x", kF, {2, 8}).initializer("n", s64({}, {3})).initializer("yes", truth(true));
  in.initializer("factor", s64({}, {factor})).initializer("begin", s64({}, {begin}));
  in.initializer("end", s64({1}, {end})).initializer("axis", s64({1}, {1}));
  in.initializer("first", s64({1}, {0}));
  in.node("Mul", {"factor", "trip"}, {"a"}).node("Add", {"a", "begin"}, {"b"});
  in.node("Unsqueeze", {"b", "first"}, {"from"}).node("Unsqueeze", {"a", "first"}, {"c"});
  in.node("Add", {"end", "c"}, {"to"}).node("Slice", {"x", "from", "to", "axis"}, {"each"});
  in.output("go").output("each");
  return model.node("Loop", {"n", "yes"}, {"y"}).subgraph("body", in).output("y");
}

TEST(CountedRegions, WindowsThatMoveWithTheTripsHaveKnownSizes) {
  const Tensor x = f32({2, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17});
  EXPECT_EQ(run(windows(3, 0, 2), {x}).at(0),
            f32({3, 2, 2}, {0, 1, 10, 11, 3, 4, 13, 14, 6, 7, 16, 17}));
  EXPECT_EQ(run(windows(1, 5, 6), {x}).at(0), f32({3, 2, 1}, {5, 15, 6, 16, 7, 17}));
  // Beyond the axis in the last trip, or from its end in the first one.
  for (const auto& [factor, begin, end] : {std::tuple{3, 0, 3}, {1, -1, 2}, {-1, 3, 4}})
    EXPECT_EQ(
        errors(windows(factor, begin, end)),
        "model: error[E-UNSUPPORTED]: node #0 (Loop): output 0 has a slice of each trip, "
        "whose rows that trip counts: all slices must have as many (0 to 8, as many as node #0 "
        "(Slice) finds at run time)\n");
}

// If c: those above 0, else what `other` makes of x.
ModelBuilder choice(const ModelBuilder& other, bool other_first) {
  ModelBuilder model(17);
  model.input("x", kF, {4}).input("c", DType::kBool, {}).initializer("zero", f32({}, {0}));
  ModelBuilder some(17);
  some.node("Greater", {"x", "zero"}, {"flags"}).node("Compress", {"x", "flags"}, {"s"});
  some.output("s");
  model.node("If", {"c"}, {"y"}).subgraph("then_branch", other_first ? other : some);
  model.subgraph("else_branch", other_first ? some : other);
  return model.node("Neg", {"y"}, {"z"}).output("z").node("ReduceSum", {"y"}, {"t"}).output("t");
}

void expect_choice(const ModelBuilder& other, const Tensor& rows, std::int64_t count, float sum) {
  for (const bool other_first : {false, true}) {
    const ModelBuilder model = choice(other, other_first);
    const auto some = run(model, {kSome, truth(!other_first)});
    EXPECT_EQ(some.at(0), f32({4}, {-2, -4, 0, 0}));
    EXPECT_EQ(some.at(1), f32({1}, {6}));
    EXPECT_EQ(some.at(2), s64({1}, {2}));
    const auto others = run(model, {kSome, truth(other_first)});
    EXPECT_EQ(others.at(0), rows);
    EXPECT_EQ(others.at(1), f32({1}, {sum}));
    EXPECT_EQ(others.at(2), s64({1}, {count}));
  }
}

TEST(CountedRegions, BothBranchesGiveThem) {
  ModelBuilder other(17);
  other.initializer("low", f32({}, {-2})).node("Less", {"x", "low"}, {"below"});
  other.node("Compress", {"x", "below"}, {"o"}).output("o");
  expect_choice(other, f32({4}, {3, 0, 0, 0}), 1, -3);
}

TEST(CountedRegions, OneBranchGivesNone) {
  ModelBuilder other(17);
  other.node("Constant", {}, {"o"}, {{"value", f32({0}, {})}}).output("o");
  expect_choice(other, f32({4}, {0, 0, 0, 0}), 0, 0);
}

TEST(CountedRegions, OneBranchGivesAFixedNumber) {
  ModelBuilder all(17), two(17);
  all.node("Identity", {"x"}, {"o"}).output("o");
  expect_choice(all, f32({4}, {1, -2, 3, -4}), 4, 2);
  two.initializer("a", s64({1}, {0})).initializer("b", s64({1}, {2}));
  two.node("Slice", {"x", "a", "b"}, {"o"}).output("o");
  expect_choice(two, f32({4}, {1, -2, 0, 0}), 2, 1);
}

// Boxes and their scores, as detectors give them.
TEST(CountedRegions, ResultsOfOneNumberOfRowsAreCombined) {
  ModelBuilder model(17), some(17), none(17);
  model.input("x", kF, {3, 2}).input("s", kF, {3}).input("c", DType::kBool, {});
  model.initializer("one", s64({1}, {1}));
  some.initializer("half", f32({}, {0.5F})).node("Greater", {"s", "half"}, {"flags"});
  some.node("Compress", {"x", "flags"}, {"boxes"}, {{"axis", std::int64_t{0}}});
  some.node("Compress", {"s", "flags"}, {"scores"}).output("boxes").output("scores");
  none.node("Constant", {}, {"b"}, {{"value", f32({0, 2}, {})}});
  none.node("Constant", {}, {"t"}, {{"value", f32({0}, {})}}).output("b").output("t");
  model.node("If", {"c"}, {"b2", "s2"}).subgraph("then_branch", none);
  model.subgraph("else_branch", some).node("Unsqueeze", {"s2", "one"}, {"s3"});
  model.node("Mul", {"b2", "s3"}, {"y"}).output("y");
  const Tensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6}), s = f32({3}, {2, 0, 4});
  EXPECT_EQ(run(model, {x, s, truth(false)}).at(0), f32({3, 2}, {2, 4, 20, 24, 0, 0}));
  EXPECT_EQ(run(model, {x, s, truth(true)}).at(0), f32({3, 2}, {0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(run(model, {x, s, truth(true)}).at(1), s64({2}, {0, 2}));
}

TEST(CountedRegions, BranchesInALoopCountInEachTrip) {
  ModelBuilder model = positives(), in = body(), some(17), none(17);
  model.initializer("h0", f32({1}, {0}));
  some.node("Greater", {"x", "t"}, {"b"}).node("Compress", {"x", "b"}, {"s"}).output("s");
  none.node("Constant", {}, {"o"}, {{"value", f32({0}, {})}}).output("o");
  in.input("h", kF, {1}).node("Cast", {"trip"}, {"t"}, {{"to", std::int64_t{1}}});
  in.initializer("limit", f32({1}, {6})).node("Less", {"h", "limit"}, {"small"});
  in.node("If", {"small"}, {"y"}).subgraph("then_branch", none).subgraph("else_branch", some);
  in.node("ReduceSum", {"y"}, {"sum"}).node("Sum", {"h", "sum", "limit"}, {"h2"});
  in.output("go").output("h2");
  model.node("Loop", {"n", "yes", "h0"}, {"y"}).subgraph("body", in).output("y");
  EXPECT_EQ(run(model, {f32({4}, {1, 2, -3, 4})}).at(0), f32({1}, {6 + 6 + 6 + 6 + 4}));
}

TEST(CountedRegions, BranchesThatCannotBeOneAreRefused) {
  ModelBuilder wide(17);
  wide.node("Concat", {"x", "x"}, {"o"}, {{"axis", std::int64_t{0}}}).output("o");
  for (const bool first : {false, true}) {
    EXPECT_EQ(
        errors(choice(wide, first)),
        "model: error[E-UNSUPPORTED]: node #0 (If): both branches are compiled, because the "
        "condition is computed from the input 'c', and one cannot be; give it with --constant "
        "c=N or c=FILE.pb\n"
        "model: error[E-UNSUPPORTED]: node #0 (If): result 0 has counted rows in one "
        "branch; the other must give them along the same axis, at most as many, and equal "
        "other sizes (0 to 4, as many as node #0 (Compress) finds at run time)\n");
  }
}

}  // namespace
}  // namespace etch
