// Loop, Scan and If at run time: what they become, and what is refused and why.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"
#include "tests/support/control_cases.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

std::string errors_of_loop(const ModelBuilder& model, const ImportOptions& options = {}) {
  Sink sink;
  load(model, sink, options);
  return errors_of(sink);
}

onnx::GraphProto& body_of(ModelBuilder& model) {
  return *model.last_node().mutable_attribute(model.last_node().attribute_size() - 1)->mutable_g();
}

// A loop with a slice of its state for each trip, whose condition is computed from it.
ModelBuilder stopping_loop(std::int64_t trips) {
  ModelBuilder model = adding_loop(trips);
  auto& body = body_of(model);
  auto& less = *body.add_node();
  less.set_op_type("Less");
  for (const char* name : {"sum", "n0"}) less.add_input(name);
  less.add_output("goes_on");
  auto& sum = *body.add_node();
  sum.set_op_type("ReduceSum");
  sum.add_input("h2");
  sum.add_output("sum");
  auto& keep = *sum.add_attribute();
  keep.set_name("keepdims");
  keep.set_type(onnx::AttributeProto::INT);
  fill_proto(f32({}, {3}), *body.add_initializer());
  body.mutable_initializer(0)->set_name("n0");
  body.mutable_output(0)->set_name("goes_on");
  return model;
}

TEST(Loop, BecomesOneRegionWithAKnownNumberOfTrips) {
  Sink sink;
  const auto graph = load(adding_loop(1000), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  ASSERT_EQ(graph->nodes.size(), 3U);
  EXPECT_TRUE(is_region_begin(graph->nodes[0]));
  const auto& end = params_of<RegionEnd>(graph->nodes[2]);
  EXPECT_EQ(end.trips, 1000);
  EXPECT_FALSE(end.conditional);
}

// What does not run need not fit: no carried value changes.
TEST(Loop, WithoutATripHandsOnWhatItBeginsWith) {
  ModelBuilder counted = adding_loop(0), never = adding_loop(5);
  never.graph().mutable_initializer(1)->set_raw_data(std::string(1, '\0'));
  for (ModelBuilder* const model : {&counted, &never}) {
    body_of(*model).mutable_node(0)->set_op_type("Less");
    Sink sink;
    const auto graph = load(*model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    EXPECT_FALSE(has_regions(*graph));
    const std::vector<Tensor> inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6}),
                                        f32({2, 3}, {7, 8, 9, 0, 1, 2})};
    EXPECT_EQ(evaluate(*graph, inputs).at(0), inputs[1]);
  }
}

TEST(Loop, LooksAtAConditionOfRunTimeBeforeEachTrip) {
  Sink sink;
  const auto graph = load(stopping_loop(10), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_TRUE(params_of<RegionEnd>(graph->nodes.back()).conditional);
}

// A loop that ends at run time, or where trip < `most` does not hold.
ModelBuilder partly_counted_loop(std::int64_t most) {
  ModelBuilder model = stopping_loop(INT64_MAX);
  auto& body = body_of(model);
  body.mutable_node(1)->set_output(0, "small");
  fill_proto(s64({}, {most}), *body.add_initializer());
  body.mutable_initializer(1)->set_name("most");
  for (const auto& [type, left, right, result] : std::vector<std::array<const char*, 4>>{
           {"Less", "trip", "most", "few"}, {"And", "few", "small", "goes_on"}}) {
    auto& node = *body.add_node();
    node.set_op_type(type);
    for (const char* name : {left, right}) node.add_input(name);
    node.add_output(result);
  }
  return model;
}

TEST(Loop, IsBoundedByAPartOfItsCondition) {
  Sink sink;
  const auto graph = load(partly_counted_loop(5), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const auto& end = params_of<RegionEnd>(graph->nodes.back());
  EXPECT_TRUE(end.conditional);
  EXPECT_EQ(end.trips, 6);  // the condition comes after the trip
}

TEST(Loop, HasNoBoundWhereAPartOfItsConditionHoldsForTooLong) {
  ImportOptions options;
  options.limits.trips = 100;
  EXPECT_EQ(errors_of_loop(partly_counted_loop(99), options), "");
  EXPECT_NE(errors_of_loop(partly_counted_loop(100), options).find("has no bound of its trips"),
            std::string::npos);
}

TEST(Loop, HasALimitOfTrips) {
  EXPECT_EQ(errors_of_loop(adding_loop(std::int64_t{1} << 40)),
            "model: error[E-LIMIT]: node #0 (Loop): makes up to 1099511627776 trips, at most "
            "1048576; --limit trips=N raises this\n");
  EXPECT_EQ(errors_of_loop(stopping_loop(INT64_MAX)),
            "model: error[E-LIMIT]: node #0 (Loop): has no bound of its trips, only a condition "
            "ends it: its first input, the trip count, must be a constant that no run exceeds, of "
            "at most 1048576 (in PyTorch a loop over range(N) that leaves with break, in place of "
            "while)\n");
  ImportOptions options;
  options.limits.trips = 6;
  EXPECT_EQ(errors_of_loop(adding_loop(6), options), "");
  EXPECT_EQ(
      errors_of_loop(adding_loop(7), options),
      "model: error[E-LIMIT]: node #0 (Loop): makes up to 7 trips, at most 6; --limit trips=N "
      "raises this\n");
}

TEST(Loop, TripsOfLoopsInsideMultiply) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2, 3}).initializer("m", s64({}, {4}));
  ModelBuilder outer;
  outer.input("i", DType::kS64, {}).input("c", DType::kBool, {}).input("o", DType::kF32, {2, 3});
  ModelBuilder inner = adding_loop(5);
  for (const auto& tensor : inner.graph().initializer()) *outer.graph().add_initializer() = tensor;
  *outer.graph().add_node() = inner.graph().node(0);
  outer.last_node().set_input(2, "o");
  outer.output("c").output("y");
  model.node("Loop", {"m", "", "x"}, {"r"}).subgraph("body", outer).output("r");
  ImportOptions options;
  options.limits.trips = 24;
  EXPECT_EQ(errors_of_loop(model, options), "");
  options.limits.trips = 23;
  EXPECT_EQ(errors_of_loop(model, options),
            "model: error[E-LIMIT]: node #0 (Loop): makes up to 4 trips, and 5 of loops inside in "
            "each, at most 23; --limit trips=N raises this\n");
}

TEST(Loop, NeedsATripCountThatIsKnown) {
  ModelBuilder model = adding_loop(3);
  model.input("m", DType::kS64, {});
  model.last_node().set_input(0, "m");
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-UNSUPPORTED]: node #0 (Loop): the trip count 'm' is computed at run "
            "time; it must be known when compiling; give it with --constant m=N or m=FILE.pb\n");
}

TEST(Loop, CannotHaveSlicesForAnUnknownNumberOfTrips) {
  ModelBuilder model = stopping_loop(10);
  model.last_node().add_output("slices");
  body_of(model).add_output()->set_name("h2");
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-UNSUPPORTED]: node #0 (Loop): the size of output 1, one slice for "
            "each trip, must be known, but how many trips there are depends on a condition at run "
            "time\n");
}

TEST(Loop, WithoutAConditionMustNotComputeOne) {
  ModelBuilder model = stopping_loop(10);
  model.last_node().set_input(1, "");
  EXPECT_NE(errors_of_loop(model).find("has no condition, but its body computes one"),
            std::string::npos);
}

TEST(Loop, CarriedValuesKeepTheirShapeAndType) {
  ModelBuilder model = adding_loop(3);
  auto& node = *body_of(model).mutable_node(0);
  node.set_op_type("MatMul");
  model.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(3);
  model.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_value(2);
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-SHAPE]: node #0 (Loop): carried value 0 is [2, 3], the body makes "
            "[2, 2] of it: it cannot change\n");
  model = adding_loop(3);
  body_of(model).mutable_node(0)->set_op_type("Less");
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-TYPE]: node #0 (Loop): carried value 0 is float32, the body makes "
            "bool of it: it cannot change\n");
}

TEST(Loop, MustFitItsBody) {
  ModelBuilder model = adding_loop(3);
  body_of(model).mutable_input()->RemoveLast();
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-GRAPH]: node #0 (Loop): has 3 inputs, its body 2; both "
            "have two before what is carried\n");
  model = adding_loop(3);
  body_of(model).mutable_output()->RemoveLast();
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-GRAPH]: node #0 (Loop): has 1 outputs and carries 1 "
            "values, its body has 1 outputs\n");
  model = adding_loop(3);
  model.last_node().clear_attribute();
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-ATTR]: node #0 (Loop): attribute 'body' is missing\n");
  model = adding_loop(3);
  body_of(model).mutable_output(1)->set_name("nowhere");
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-GRAPH]: node #0 (Loop): its result 'nowhere' is no "
            "input, initializer or output of a node\n");
}

// Regions have attributes of their own, which a file could name.
TEST(Loop, HasNoAttributeButItsBody) {
  for (const char* const name : {"axes", "carried", "when"}) {
    ModelBuilder model = adding_loop(3);
    auto& attribute = *model.last_node().add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(1);
    EXPECT_EQ(errors_of_loop(model), cat("model: error[E-ATTR]: node #0 (Loop): attribute '", name,
                                         "': is not an attribute of this operator\n"));
  }
}

TEST(Loop, NamesInTheBodyMustNotBeDefinedAroundIt) {
  ModelBuilder model = adding_loop(3);
  body_of(model).mutable_node(0)->set_output(0, "x");
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-NAME]: node #0 (Loop): its body defines 'x', which is "
            "defined around it already\n");
  model = adding_loop(3);
  body_of(model).mutable_input(2)->set_name("go");
  const std::string found = errors_of_loop(model);
  EXPECT_NE(found.find("input 'go' of its body has no name, or that of another"), std::string::npos)
      << found;
}

TEST(Loop, BodiesNestToALimit) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1}).initializer("n", s64({}, {1}));
  ModelBuilder inner;
  const auto enclosed = [](const ModelBuilder& in, int level, const std::string& result) {
    ModelBuilder out;
    out.input(cat("i", level), DType::kS64, {}).input(cat("c", level), DType::kBool, {});
    out.input(cat("h", level), DType::kF32, {1});
    out.node("Loop", {"n", "", cat("h", level)}, {result}).subgraph("body", in);
    out.output(cat("c", level)).output(result);
    return out;
  };
  inner.input("i", DType::kS64, {}).input("c", DType::kBool, {}).input("h", DType::kF32, {1});
  inner.node("Neg", {"h"}, {"r"}).output("c").output("r");
  for (int level = 0; level < 25; ++level) inner = enclosed(inner, level, cat("r", level));
  model.node("Loop", {"n", "", "x"}, {"y"}).subgraph("body", inner).output("y");
  const std::string found = errors_of_loop(model);
  EXPECT_TRUE(found.find("E-LIMIT") != std::string::npos ||
              found.find("E-PARSE") != std::string::npos)
      << found;
}

TEST(Scan, MustSayHowItsInputsAreCut) {
  const auto scan = [](const std::map<std::string, Attribute>& attributes) {
    ModelBuilder model;
    model.input("s", DType::kF32, {2}).input("x", DType::kF32, {4, 2});
    model.input("u", DType::kF32, {3, 2});
    ModelBuilder body;
    body.input("h", DType::kF32, {2}).input("a", DType::kF32, {2}).input("b", DType::kF32, {2});
    body.node("Sum", {"h", "a", "b"}, {"h2"}).output("h2");
    model.node("Scan", {"s", "x", "u"}, {"y"}, attributes).subgraph("body", body).output("y");
    return errors_of_loop(model);
  };
  const Attribute two = std::int64_t{2};
  EXPECT_EQ(scan({}),
            "model: error[E-ATTR]: node #0 (Scan): attribute 'num_scan_inputs' must be "
            "given, from 1 to the 3 inputs\n");
  EXPECT_EQ(
      scan({{"num_scan_inputs", two}, {"scan_input_axes", Ints{0}}}),
      "model: error[E-ATTR]: node #0 (Scan): axes and directions of slices must be lists with "
      "one integer for each, directions 0 or 1\n");
  EXPECT_EQ(
      scan({{"num_scan_inputs", two}}),
      "model: error[E-SHAPE]: node #0 (Scan) input 4 (scan input): has 3 slices, those before "
      "have 4\n");
}

// y [2, 2] and z [2, 3, 2]: sums over a batch of two sequences.
ModelBuilder scan_of_batch(const std::string& lengths) {
  ModelBuilder model(8);
  model.input("h0", DType::kF32, {2, 2}).input("x", DType::kF32, {2, 3, 2});
  if (!lengths.empty()) model.input(lengths, DType::kS64, {2});
  ModelBuilder body(8);
  body.input("h", DType::kF32, {2}).input("a", DType::kF32, {2});
  body.node("Add", {"h", "a"}, {"h2"}).node("Identity", {"h2"}, {"each"});
  body.output("h2").output("each");
  model.node("Scan", {lengths, "h0", "x"}, {"y", "z"},
             {{"num_scan_inputs", std::int64_t{1}}, {"directions", Ints{1}}});
  return model.subgraph("body", body).output("y").output("z");
}

TEST(Scan, OfOperatorSet8GoesThroughEachElementOfABatch) {
  Sink sink;
  const auto graph = load(scan_of_batch(""), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const auto out = evaluate(*graph, {f32({2, 2}, {0, 10, 20, 30}),
                                     f32({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})});
  EXPECT_EQ(out.at(0), f32({2, 2}, {9, 22, 47, 60}));
  EXPECT_EQ(out.at(1), f32({2, 3, 2}, {5, 16, 8, 20, 9, 22, 31, 42, 40, 52, 47, 60}));
}

TEST(Scan, OfOperatorSet8HasNoLengthsOfSequences) {
  EXPECT_EQ(errors_of_loop(scan_of_batch("lengths")),
            "model: error[E-UNSUPPORTED]: node #0 (Scan): input 0 (sequence_lens) of the Scan of "
            "ai.onnx 8 must be omitted: ai.onnx 9 has it no longer, because all sequences of a "
            "batch have one length\n");
}

TEST(If, ResultsOfBothBranchesMustBeAlikeAtRunTime) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).input("c", DType::kBool, {});
  ModelBuilder first, second;
  first.node("Neg", {"x"}, {"a"}).output("a");
  second.node("Concat", {"x", "x"}, {"b"}, {{"axis", std::int64_t{0}}}).output("b");
  model.node("If", {"c"}, {"y"}).subgraph("then_branch", first);
  model.subgraph("else_branch", second).output("y");
  EXPECT_EQ(errors_of_loop(model),
            "model: error[E-UNSUPPORTED]: node #0 (If): both branches are compiled, because the "
            "condition is computed from the input 'c', and one cannot be; give it with --constant "
            "c=N or c=FILE.pb\n"
            "model: error[E-SHAPE]: node #0 (If): result 0 is [2] in one branch, [4] in the "
            "other: which one is taken depends on run time\n");
}

// As the sample rate of a network of voices: what helps comes before what is wrong with a branch.
TEST(If, SaysFirstWhatItsInputIsComparedWith) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).input("rate", DType::kS64, {});
  model.initializer("sixteen", Tensor::of<std::int64_t>({}, {16000}));
  model.node("Relu", {"x"}, {"r"});
  ModelBuilder first, second;
  first.node("Neg", {"r"}, {"a"}).output("a");
  second.node("LSTM", {"r", "r", "r"}, {"b"}).output("b");
  model.node("Equal", {"rate", "sixteen"}, {"c"});
  model.node("If", {"c"}, {"y"}).subgraph("then_branch", first);
  model.subgraph("else_branch", second).output("y");
  const std::string said = errors_of_loop(model);
  const std::string hint =
      "model: error[E-UNSUPPORTED]: node #2 (If): both branches are compiled, because the "
      "condition "
      "is computed from the input 'rate', and one cannot be; give it with --constant rate=N or "
      "rate=FILE.pb, e.g. rate=16000, which it is compared with\n";
  EXPECT_EQ(said.substr(0, hint.size()), hint);
  EXPECT_NE(said.find("(LSTM)"), std::string::npos) << said;
}

TEST(If, NamesNoNumberThatAnotherValueIsComparedWith) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).input("rate", DType::kS64, {});
  model.initializer("sixteen", Tensor::of<std::int64_t>({}, {16000}));
  ModelBuilder first, second;
  first.node("Neg", {"x"}, {"a"}).output("a");
  second.node("Concat", {"x", "x"}, {"b"}, {{"axis", std::int64_t{0}}}).output("b");
  model.node("Neg", {"rate"}, {"less"}).node("Equal", {"sixteen", "less"}, {"c"});
  model.node("If", {"c"}, {"y"}).subgraph("then_branch", first);
  model.subgraph("else_branch", second).output("y");
  const std::string said = errors_of_loop(model);
  EXPECT_NE(said.find("--constant rate=N or rate=FILE.pb\n"), std::string::npos) << said;
}

TEST(If, ResultsWithoutElementsAreAlikeOrRefused) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).input("c", DType::kBool, {});
  model.initializer("e", Tensor(DType::kF32, {0}));
  ModelBuilder first, second;
  first.node("Neg", {"x"}, {"a"}).output("a");
  second.node("Neg", {"e"}, {"b"}).output("b");
  model.node("If", {"c"}, {"y"}).subgraph("then_branch", first);
  model.subgraph("else_branch", second).output("y");
  EXPECT_NE(errors_of_loop(model).find("result 0 is [2] in one branch, [0] in the other"),
            std::string::npos);
  model.last_node().mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, "e");
  EXPECT_EQ(errors_of_loop(model), "");
}

TEST(Regions, AreNotForFilesToWrite) {
  ModelBuilder model;
  model.opset("org.etch", 1).input("x", DType::kF32, {2});
  model.node("Loop", {"", "", "x"}, {"t", "y"}, {{"carried", std::int64_t{1}}}, "org.etch");
  model.output("y");
  EXPECT_NE(errors_of_loop(model).find("E-OP"), std::string::npos);
}

}  // namespace
}  // namespace etch
