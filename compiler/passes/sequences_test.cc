// Lists of tensors: results by the references of what stands for them, against values worked out by
// hand, how many operators are left, and what is refused.
#include "compiler/passes/sequences.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::vector<Tensor> run_sequences(const ModelBuilder& model, const std::vector<Tensor>& inputs) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  return graph ? evaluate(*graph, inputs) : std::vector<Tensor>(4);
}

std::string operators(const ModelBuilder& model) {
  Sink sink;
  const auto graph = load(model, sink);
  if (!graph) return errors_of(sink);
  std::string out;
  for (const Node& node : graph->nodes) out += cat(out.empty() ? "" : " ", node.op_type);
  return out;
}

std::string errors_of_sequences(const ModelBuilder& model) {
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  return errors_of(sink);
}

const Tensor kX = f32({2, 3}, {1, 2, 3, 4, 5, 6});

// x [2, 3] and `list`, its parts along the axis.
ModelBuilder split_model(std::int64_t axis, bool keep, const Tensor* sizes = nullptr) {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2, 3});
  std::vector<std::string> inputs = {"x"};
  if (sizes != nullptr) {
    model.initializer("sizes", *sizes);
    inputs.emplace_back("sizes");
  }
  model.node("SplitToSequence", inputs, {"list"},
             {{"axis", axis}, {"keepdims", std::int64_t{keep ? 1 : 0}}});
  return model;
}

ModelBuilder& element(ModelBuilder& model, const std::string& list, std::int64_t at,
                      const std::string& name) {
  model.initializer(name + "_at", s64({}, {at}));
  model.node("SequenceAt", {list, name + "_at"}, {name}).output(name);
  return model;
}

TEST(Sequences, PartsOfATensorAreItsSlices) {
  ModelBuilder columns = split_model(1, false);
  const auto some = run_sequences(element(element(columns, "list", 0, "a"), "list", -1, "b"), {kX});
  EXPECT_EQ(some.at(0), f32({2}, {1, 4}));
  EXPECT_EQ(some.at(1), f32({2}, {3, 6}));
  ModelBuilder kept = split_model(-1, true);
  EXPECT_EQ(run_sequences(element(kept, "list", 1, "a"), {kX}).at(0), f32({2, 1}, {2, 5}));
  const Tensor two = s64({}, {2}), lengths = s64({2}, {1, 2});
  ModelBuilder chunks = split_model(1, true, &two);
  EXPECT_EQ(run_sequences(element(chunks, "list", 1, "a"), {kX}).at(0), f32({2, 1}, {3, 6}));
  ModelBuilder given = split_model(1, false, &lengths);
  EXPECT_EQ(run_sequences(element(given, "list", 1, "a"), {kX}).at(0), f32({2, 2}, {2, 3, 5, 6}));
  const Tensor one = s64({}, {1});  // as PyTorch's exporter writes unbind()
  ModelBuilder single = split_model(1, false, &one);
  EXPECT_EQ(run_sequences(element(single, "list", 2, "a"), {kX}).at(0), f32({2}, {3, 6}));
}

TEST(Sequences, AllPartsTogetherAreTheTensor) {
  for (const bool keep : {false, true}) {
    ModelBuilder model = split_model(1, keep);
    std::map<std::string, Attribute> attributes = {{"axis", std::int64_t{1}}};
    if (!keep) attributes["new_axis"] = std::int64_t{1};
    model.node("ConcatFromSequence", {"list"}, {"y"}, attributes).output("y");
    EXPECT_EQ(operators(model), "Identity");
    EXPECT_EQ(run_sequences(model, {kX}).at(0), kX);
  }
  ModelBuilder moved = split_model(1, false);
  moved.node("ConcatFromSequence", {"list"}, {"y"},
             {{"axis", std::int64_t{0}}, {"new_axis", std::int64_t{1}}});
  moved.output("y");
  EXPECT_EQ(operators(moved), "Transpose");
  EXPECT_EQ(run_sequences(moved, {kX}).at(0), f32({3, 2}, {1, 4, 2, 5, 3, 6}));
  ModelBuilder joined = split_model(0, true);
  joined.node("ConcatFromSequence", {"list"}, {"y"}, {{"axis", std::int64_t{1}}});
  joined.output("y", DType::kF32, {1, 2, 3});  // as PyTorch's exporter declares it
  EXPECT_EQ(run_sequences(joined, {kX}).at(0), f32({1, 6}, {1, 2, 3, 4, 5, 6}));
}

TEST(Sequences, ElementsAreInsertedAndErased) {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2}).node("Neg", {"x"}, {"n"}).node("Abs", {"n"}, {"m"});
  model.node("SequenceConstruct", {"x", "n"}, {"l0"});
  model.initializer("first", s64({}, {-2})).initializer("one", s64({}, {1}));
  model.node("SequenceInsert", {"l0", "m", "first"}, {"l1"});  // m x n
  model.node("SequenceErase", {"l1", "one"}, {"l2"});          // m n
  model.node("Identity", {"l2"}, {"l3"});
  model.node("SequenceInsert", {"l3", "x"}, {"l4"});  // m n x
  model.node("SequenceErase", {"l4"}, {"l5"});        // m n
  model.node("ConcatFromSequence", {"l4"}, {"y"},
             {{"axis", std::int64_t{-1}}, {"new_axis", std::int64_t{1}}});
  model.node("SequenceLength", {"l5"}, {"n5"}).output("y").output("n5");
  const auto found = run_sequences(model, {f32({2}, {-1, 2})});
  EXPECT_EQ(found.at(0), f32({2, 3}, {1, 1, -1, 2, -2, 2}));
  EXPECT_EQ(found.at(1), s64({}, {2}));
}

TEST(Sequences, APositionOfRunTimePicksFromAllElements) {
  ModelBuilder rows = split_model(0, false);
  rows.input("i", DType::kS64, {}).node("SequenceAt", {"list", "i"}, {"y"}).output("y");
  EXPECT_EQ(operators(rows), "Gather");
  EXPECT_EQ(run_sequences(rows, {kX, s64({}, {-1})}).at(0), f32({3}, {4, 5, 6}));
  ModelBuilder made(17);
  made.input("x", DType::kF32, {2}).input("i", DType::kS64, {}).node("Neg", {"x"}, {"n"});
  made.node("SequenceConstruct", {"x", "n"}, {"list"});
  made.node("SequenceAt", {"list", "i"}, {"y"}).output("y");
  EXPECT_EQ(run_sequences(made, {f32({2}, {3, 4}), s64({}, {1})}).at(0), f32({2}, {-3, -4}));
}

Tensor truth() {
  Tensor out(DType::kBool, {});
  out.as<std::uint8_t>()[0] = 1;
  return out;
}

// A loop to whose list each trip appends v: x, and 1 more in each trip.
ModelBuilder appending_loop(std::int64_t trips) {
  ModelBuilder body(17);
  body.input("i", DType::kS64, {}).input("c", DType::kBool, {}).input("v", DType::kF32, {2});
  body.input("l", DType::kF32, {2}).node("SequenceInsert", {"l", "v"}, {"l2"});
  body.node("Add", {"v", "one"}, {"v2"}).node("Identity", {"c"}, {"c2"});
  body.output("c2").output("v2").output("l2");
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2}).initializer("m", s64({}, {trips}));
  model.initializer("one", f32({}, {1})).initializer("yes", truth());
  model.node("SequenceEmpty", {}, {"first"});
  model.node("Loop", {"m", "yes", "x", "first"}, {"last", "list"}).subgraph("body", body);
  return model;
}

TEST(Sequences, ALoopThatAppendsGivesSlices) {
  ModelBuilder model = appending_loop(3);
  model.node("ConcatFromSequence", {"list"}, {"y"},
             {{"axis", std::int64_t{0}}, {"new_axis", std::int64_t{1}}});
  element(model, "list", -1, "third").output("y").output("last");
  const auto found = run_sequences(model, {f32({2}, {5, 7})});
  EXPECT_EQ(found.at(0), f32({2}, {7, 9}));
  EXPECT_EQ(found.at(1), f32({3, 2}, {5, 7, 6, 8, 7, 9}));
  EXPECT_EQ(found.at(2), f32({2}, {8, 10}));
}

TEST(Sequences, ALoopThatReadsItsListIsRefused) {
  ModelBuilder body(17);
  body.input("i", DType::kS64, {}).input("c", DType::kBool, {}).input("l", DType::kF32, {2});
  body.node("SequenceLength", {"l"}, {"n"}).node("SequenceInsert", {"l", "x"}, {"l2"});
  body.node("Identity", {"c"}, {"c2"}).output("c2").output("l2").output("n");
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2}).initializer("m", s64({}, {3})).initializer("yes", truth());
  model.node("SequenceEmpty", {}, {"first"});
  model.node("Loop", {"m", "yes", "first"}, {"list", "lengths"}).subgraph("body", body);
  EXPECT_NE(errors_of_sequences(model.output("lengths")).find("reads 'first', a list of tensors"),
            std::string::npos);
}

TEST(Sequences, WhatALoopAppendsMustBeATensor) {
  ModelBuilder body(17);
  body.input("i", DType::kS64, {}).input("c", DType::kBool, {}).input("l", DType::kF32, {2});
  body.node("SequenceInsert", {"l", "l"}, {"l2"});
  body.node("Identity", {"c"}, {"c2"}).output("c2").output("l2");
  ModelBuilder model(17);
  model.initializer("m", s64({}, {3})).initializer("yes", truth());
  model.node("SequenceEmpty", {}, {"first"});
  model.node("Loop", {"m", "yes", "first"}, {"list"}).subgraph("body", body);
  EXPECT_NE(errors_of_sequences(element(model, "list", 0, "y")).find("a list of"),
            std::string::npos);
}

TEST(Sequences, ElementsAndPositionsAreTensorsOfOneType) {
  ModelBuilder of_lists = split_model(0, false);
  of_lists.node("SequenceConstruct", {"x", "list"}, {"both"});
  EXPECT_NE(errors_of_sequences(element(of_lists, "both", 0, "y"))
                .find("input 1 must be a tensor, and is a list of them"),
            std::string::npos);
  ModelBuilder at_list = split_model(0, false);
  at_list.node("SequenceAt", {"list", "list"}, {"y"}).output("y");
  EXPECT_NE(errors_of_sequences(at_list).find("input 1 must be a tensor"), std::string::npos);
  ModelBuilder mixed(17);
  mixed.input("x", DType::kF32, {2}).input("b", DType::kU8, {2});
  mixed.node("SequenceConstruct", {"x", "b"}, {"list"});
  EXPECT_NE(errors_of_sequences(element(mixed, "list", 0, "y"))
                .find("input 1 is uint8, and the other elements of the list are float32"),
            std::string::npos);
}

TEST(Sequences, AnOutputTooManyIsRefusedWithoutTheFirstToo) {
  ModelBuilder model = split_model(0, false);
  model.node("SequenceErase", {"list"}, {"", "y"}).output("y");
  EXPECT_EQ(errors_of_sequences(model),
            "model: error[E-GRAPH]: node #1 (SequenceErase): has more inputs or outputs than the "
            "operator\n");
  ModelBuilder same = split_model(0, false);
  same.node("Identity", {"list"}, {"", "y"}).output("y");
  EXPECT_EQ(errors_of_sequences(same),
            "model: error[E-UNSUPPORTED]: node #1 (Identity): reads 'list', a list of tensors: "
            "only operators of lists, an If whose condition is known, and a Loop that does "
            "nothing but append to it can be compiled\n");
}

TEST(Sequences, APositionOfRunTimeIsOneNumberOfAnyRank) {
  ModelBuilder model = split_model(0, false);
  model.input("at", DType::kS64, {1}).node("SequenceAt", {"list", "at"}, {"y"}).output("y");
  EXPECT_EQ(run_sequences(model, {kX, s64({1}, {1})}).at(0), f32({3}, {4, 5, 6}));
  ModelBuilder two = split_model(0, false);
  two.input("at", DType::kS64, {2}).node("SequenceAt", {"list", "at"}, {"y"}).output("y");
  EXPECT_NE(errors_of_sequences(two).find("the position must be one number"), std::string::npos);
}

TEST(Sequences, TheBranchOfAKnownConditionReadsThem) {
  ModelBuilder model = split_model(0, false), branch(17);
  branch.node("SequenceAt", {"list", "at"}, {"part"}).output("part");
  model.initializer("yes", truth()).initializer("at", s64({}, {1})).node("If", {"yes"}, {"y"});
  model.subgraph("then_branch", branch).subgraph("else_branch", branch).output("y");
  EXPECT_EQ(run_sequences(model, {kX}).at(0), f32({3}, {4, 5, 6}));
}

TEST(Sequences, ConstantsOfOtherFloatsAreElements) {
  ModelBuilder model(17);
  model.input("x", DType::kF16, {1}).initializer("c", Tensor(DType::kF16, {2}));
  model.node("SequenceConstruct", {"x", "c"}, {"list"});
  model.node("ConcatFromSequence", {"list"}, {"y"}, {{"axis", std::int64_t{0}}}).output("y");
  Sink sink;
  EXPECT_TRUE(load(model, sink)) << errors_of(sink);
}

TEST(Sequences, ListsHaveALimit) {
  ModelBuilder model(17);
  model.input("x", DType::kF32, {2'000'000, 1}).node("SplitToSequence", {"x"}, {"list"});
  EXPECT_NE(errors_of_sequences(element(model, "list", 0, "a")).find("too many elements"),
            std::string::npos);
  ModelBuilder nodes(17);
  nodes.input("x", DType::kF32, {20'000, 2}).node("SplitToSequence", {"x"}, {"list"});
  nodes.node("ConcatFromSequence", {"list"}, {"y"}, {{"axis", std::int64_t{1}}}).output("y");
  EXPECT_NE(errors_of_sequences(nodes).find("need too many nodes"), std::string::npos);
}

TEST(Sequences, WhatNeedsALengthOfRunTimeIsRefused) {
  ModelBuilder added = split_model(0, false);
  added.node("Relu", {"list"}, {"y"}).output("y");
  EXPECT_NE(errors_of_sequences(added).find("node #1 (Relu): reads 'list', a list of tensors"),
            std::string::npos);
  ModelBuilder more(17);
  more.input("x", DType::kF32, {2}).node("SequenceConstruct", {"x"}, {"list"});
  more.node("SequenceLength", {"list", "x"}, {"n"}).output("n");
  EXPECT_NE(errors_of_sequences(more).find("has more inputs or outputs"), std::string::npos);
  ModelBuilder outside = split_model(0, false);
  EXPECT_NE(
      errors_of_sequences(element(outside, "list", 2, "a")).find("the position must be in [-2, 1]"),
      std::string::npos);
  ModelBuilder tensor(17);
  tensor.input("x", DType::kF32, {2}).node("SequenceLength", {"x"}, {"n"}).output("n");
  EXPECT_NE(errors_of_sequences(tensor).find("input 0 must be a list of tensors"),
            std::string::npos);
  const Tensor lengths = s64({2}, {1, 3});
  ModelBuilder longer = split_model(1, true, &lengths);
  EXPECT_NE(
      errors_of_sequences(element(longer, "list", 0, "a")).find("must add up to 3 along axis 1"),
      std::string::npos);
  ModelBuilder ports = split_model(0, false);
  EXPECT_NE(errors_of_sequences(ports.output("list"))
                .find("is a list of tensors; outputs must be tensors"),
            std::string::npos);
  ModelBuilder none(17);
  none.input("x", DType::kF32, {2}).node("SequenceEmpty", {}, {"list"});
  none.node("ConcatFromSequence", {"list"}, {"y"}, {{"axis", std::int64_t{0}}}).output("y");
  EXPECT_NE(errors_of_sequences(none).find("the list has no element"), std::string::npos);
}

}  // namespace
}  // namespace etch
