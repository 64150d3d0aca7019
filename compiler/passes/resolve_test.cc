// Tests of resolve: what it checks itself, and that it carries shapes and constants forward. The
// operators' own checks are tested with the operators.
#include "compiler/passes/resolve.h"

#include <gtest/gtest.h>

#include "tests/support/model_builder.h"

namespace etch {
namespace {

std::vector<std::string> op_types(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& node : graph.nodes) out.push_back(node.op_type);
  return out;
}

TEST(Resolve, GivesEveryValueATypeAndAShape) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2, 3});
  model.node("Relu", {"x"}, {"t"}).node("Transpose", {"t"}, {"y"}, {{"perm", Ints{1, 0}}});
  model.output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Value& output = graph->value(graph->outputs[0]);
  EXPECT_EQ(output.dtype, DType::kF32);
  EXPECT_EQ(output.shape, (Shape{3, 2}));
}

TEST(Resolve, SaysWhichLevelWritesALayoutOfOneCpu) {
  ModelBuilder model;
  model.opset("com.microsoft.nchwc", 1).input("x", DType::kF32, {1, 16, 2, 2});
  model.node("ReorderInput", {"x"}, {"y"}, {}, "com.microsoft.nchwc").output("y");
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  EXPECT_NE(errors_of(sink).find("save the optimized model at level 'extended'"),
            std::string::npos);
}

TEST(Resolve, FoldsTheShapeChainOfADynamicReshape) {
  ModelBuilder model;
  model.input("x", DType::kF32, {"batch", 2, 3});
  model.initializer("zero", Tensor::of<std::int64_t>({1}, {0}));
  model.initializer("rest", Tensor::of<std::int64_t>({1}, {-1}));
  model.node("Shape", {"x"}, {"sizes"});
  model.node("Gather", {"sizes", "zero"}, {"n"});
  model.node("Concat", {"n", "rest"}, {"shape"}, {{"axis", 0}});
  model.node("Reshape", {"x", "shape"}, {"y"}).output("y", DType::kF32, {"batch", 6});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(op_types(*graph), std::vector<std::string>{"Reshape"});
  EXPECT_EQ(graph->value(graph->outputs[0]).shape, (Shape{1, 6}));
}

TEST(Resolve, KeepsTheIntegersBehindADequantizedWeight) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.initializer("q", Tensor::of<std::int8_t>({2}, {3, -4}));
  model.initializer("scale", Tensor::of<float>({}, {0.5F}));
  model.initializer("zero", Tensor::of<std::int8_t>({}, {1}));
  model.node("DequantizeLinear", {"q", "scale", "zero"}, {"w"});
  model.node("Add", {"x", "w"}, {"y"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(op_types(*graph), (std::vector<std::string>{"DequantizeLinear", "Add"}));
}

TEST(Resolve, AConstantOutputNeedsNoNode) {
  ModelBuilder model;
  model.node("Constant", {}, {"c"}, {{"value", Tensor::of<float>({2}, {1.0F, -2.0F})}});
  model.node("Relu", {"c"}, {"y"}).output("y", DType::kF32, {2});
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_TRUE(graph->nodes.empty());
  EXPECT_EQ(*graph->value(graph->outputs[0]).constant, Tensor::of<float>({2}, {1.0F, 0.0F}));
}

TEST(Resolve, RemovesNodesAndConstantsThatNothingNeeds) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.initializer("unused", Tensor::of<float>({1}, {1.0F}));
  model.node("Relu", {"x"}, {"y"}).node("Relu", {"x"}, {"nobody"}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(graph->values.size(), 2U);
}

TEST(Resolve, ReportsEachUnknownOperatorOnce) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.node("Foo", {"x"}, {"a"}).node("Foo", {"a"}, {"b"}).node("Bar", {"b"}, {"c"});
  model.node("Relu", {"c"}, {"y"}, {}, "evil.example").output("y");
  Sink sink;
  load(model, sink);
  EXPECT_EQ(errors_of(sink),
            "model: error[E-OP]: node #0 (Foo): the domain ai.onnx has no operator 'Foo' that can "
            "be compiled, used by 2 nodes\n"
            "model: error[E-OP]: node #2 (Bar): the domain ai.onnx has no operator 'Bar' that can "
            "be compiled (docs/operators.md lists those that can; --cut NAME compiles what comes "
            "before)\n"
            "model: error[E-OP]: node #3 (Relu): the domain evil.example has no operator 'Relu' "
            "that can be compiled\n");
}

TEST(Resolve, LeavesNodesThatDependOnAFaultyOneAlone) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.node("Relu", {"x"}, {"a"}, {{"bogus", 1}}).node("Relu", {"a"}, {"y"}).output("y");
  Sink sink;
  load(model, sink);
  EXPECT_EQ(errors_of(sink),
            "model: error[E-ATTR]: node #0 (Relu) attribute 'bogus': is not an attribute of this "
            "operator\n");
}

TEST(Resolve, GoesOnAfterAFaultToFindOthers) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.node("Relu", {"x"}, {"a"}, {{"bogus", 1}}).node("Relu", {"x"}, {"b"}, {{"odd", 1}});
  model.output("a").output("b");
  Sink sink;
  load(model, sink);
  EXPECT_EQ(sink.error_count(), 2U) << errors_of(sink);
}

TEST(Resolve, RefusesAnOperatorThatIsNewerThanTheImportedSet) {
  ModelBuilder model(9);
  model.input("x", DType::kF32, {2});
  model.initializer("scale", Tensor::of<float>({}, {0.5F}));
  model.node("QuantizeLinear", {"x", "scale"}, {"y"}).output("y");
  Sink sink;
  load(model, sink);
  EXPECT_TRUE(has_error(sink, DiagKind::kVersion)) << errors_of(sink);
}

TEST(Resolve, RefusesAnOperatorWhoseDomainIsNotImported) {
  ModelBuilder model;
  model.input("x", DType::kU8, {2});
  model.initializer("scale", Tensor::of<float>({}, {0.5F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {0}));
  model.node("QLinearSigmoid", {"x", "scale", "zero", "scale", "zero"}, {"y"}, {}, "com.microsoft");
  model.output("y");
  Sink without;
  load(model, without);
  EXPECT_TRUE(has_error(without, DiagKind::kVersion)) << errors_of(without);
  Sink with;
  EXPECT_TRUE(load(model.opset("com.microsoft", 1), with).has_value()) << errors_of(with);
}

TEST(Resolve, RefusesTooFewAndTooManyInputsAndOutputs) {
  const auto errors = [](const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
    ModelBuilder model;
    model.input("x", DType::kF32, {2}).node("Relu", inputs, outputs).output("y");
    Sink sink;
    load(model, sink);
    return errors_of(sink);
  };
  EXPECT_EQ(errors({"x"}, {"y"}), "");
  const std::string where = "model: error[E-GRAPH]: node #0 (Relu): ";
  EXPECT_EQ(errors({}, {"y"}), where + "must have 1 inputs, has 0\n");
  EXPECT_EQ(errors({"x", "x"}, {"y"}), where + "must have 1 inputs, has 2\n");
  EXPECT_EQ(errors({"x"}, {"y", "z"}), where + "must have 1 outputs, has 2\n");
}

// Pad asks which node dequantizes its value: not one that has been refused.
TEST(Resolve, LooksForTheMakerOfAValueAmongResolvedNodes) {
  ModelBuilder model(19);
  model.input("x", DType::kF32, {2}).input("value", DType::kF32, {});
  model.initializer("q", Tensor::of<std::int8_t>({}, {3}));
  model.initializer("scale", Tensor::of<float>({}, {0.5F}));
  model.initializer("pads", Tensor::of<std::int64_t>({2}, {1, 1}));
  model.node("DequantizeLinear", {"q", "scale"}, {});
  model.node("Pad", {"x", "pads", "value"}, {"y"}).output("y");
  Sink sink;
  EXPECT_FALSE(load(model, sink).has_value());
  EXPECT_EQ(errors_of(sink),
            "model: error[E-GRAPH]: node #0 (DequantizeLinear): must have 1 outputs, has 0\n"
            "model: error[E-UNSUPPORTED]: node #1 (Pad) input 2 (constant_value): must be known at "
            "compile time; give it with --constant value=N or value=FILE.pb\n");
}

// Converters from TensorFlow Lite compute sizes from the shape that a caller wants.
TEST(Resolve, NamesTheInputThatASizeIsComputedFrom) {
  ModelBuilder model(19);
  model.input("x", DType::kF32, {8}).input("wanted", DType::kS32, {1});
  model.initializer("zero", Tensor::of<std::int64_t>({1}, {0}));
  model.node("Cast", {"wanted"}, {"wide"}, {{"to", std::int64_t{7}}});
  model.node("Add", {"wide", "zero"}, {"end"});
  model.node("Expand", {"x", "end"}, {"y"}).output("y");
  Sink sink;
  EXPECT_FALSE(load(model, sink).has_value());
  EXPECT_EQ(
      errors_of(sink),
      "model: error[E-UNSUPPORTED]: node #2 (Expand) input 1 (shape): must be known at compile "
      "time, and is computed from the input 'wanted'; give it with --constant wanted=N or "
      "wanted=FILE.pb\n");
  EXPECT_EQ(sink.sorted().front().input, "wanted");
  EXPECT_EQ(sink.sorted().front().input_file, 1);
}

TEST(Resolve, TrailingOmittedInputsDoNotCount) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).node("Relu", {"x", "", ""}, {"y"}).output("y");
  Sink sink;
  EXPECT_TRUE(load(model, sink).has_value()) << errors_of(sink);
}

TEST(Resolve, RefusesARequiredInputThatIsOmitted) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).node("Add", {"", "x"}, {"y"}).output("y");
  Sink sink;
  load(model, sink);
  EXPECT_EQ(errors_of(sink),
            "model: error[E-GRAPH]: node #0 (Add): input 0 is required, but omitted\n");
  ModelBuilder last;
  last.input("x", DType::kF32, {2}).initializer("zero", Tensor::of<std::uint8_t>({}, {0}));
  last.node("QuantizeLinear", {"x", "", "zero"}, {"y"}).output("y");
  Sink sink_of_last;
  load(last, sink_of_last);
  EXPECT_EQ(errors_of(sink_of_last),
            "model: error[E-GRAPH]: node #0 (QuantizeLinear): input 1 is required, but omitted\n");
}

TEST(Resolve, RefusesAGraphOutputDeclaredOtherwise) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).node("Relu", {"x"}, {"y"}).output("y", DType::kF32, {3});
  Sink sink;
  load(model, sink);
  EXPECT_EQ(errors_of(sink),
            "model: error[E-SHAPE]: node #0 (Relu): output 0 is declared as [3], computed as "
            "[2]\n");
}

TEST(Resolve, RefusesAnElementTypeDeclaredOtherwise) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).node("Relu", {"x"}, {"y"}).output("y", DType::kS8, {2});
  Sink sink;
  load(model, sink);
  EXPECT_TRUE(has_error(sink, DiagKind::kType)) << errors_of(sink);
}

TEST(Resolve, AcceptsOpenSizesInADeclaration) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2, 5}).node("Relu", {"x"}, {"y"});
  model.output("y", DType::kF32, {"any", -1});
  Sink sink;
  EXPECT_TRUE(load(model, sink).has_value()) << errors_of(sink);
}

TEST(Resolve, OnlyWarnsOfAStaleShapeInside) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).node("Relu", {"x"}, {"t"}).node("Relu", {"t"}, {"y"});
  model.value_info("t", DType::kF32, {9}).output("y");
  Sink sink;
  const auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_TRUE(has_report(sink, Severity::kWarning, DiagKind::kShape));
  EXPECT_EQ(graph->value(graph->outputs[0]).shape, Shape{2});
}

TEST(Resolve, OnlyWarnsOfAnyOtherShapeInside) {
  for (const auto& declared : std::vector<std::vector<Dim>>{{2, 9}, {2}, {2, 5, 1}}) {
    ModelBuilder model;
    model.input("x", DType::kF32, {2, 5}).node("Relu", {"x"}, {"t"}).node("Relu", {"t"}, {"y"});
    model.value_info("t", DType::kF32, declared).output("y");
    Sink sink;
    const auto graph = load(model, sink);
    ASSERT_TRUE(graph) << errors_of(sink);
    EXPECT_TRUE(has_report(sink, Severity::kWarning, DiagKind::kShape)) << declared.size();
    EXPECT_EQ(graph->value(graph->outputs[0]).shape, (Shape{2, 5}));
  }
}

TEST(Resolve, RefusesAnOutputBeyondTheSizeLimit) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1});
  model.initializer("shape", Tensor::of<std::int64_t>({2}, {1 << 20, 1 << 20}));
  model.node("Expand", {"x", "shape"}, {"y"}).output("y");
  Sink sink;
  load(model, sink);
  EXPECT_TRUE(has_error(sink, DiagKind::kLimit)) << errors_of(sink);
}

TEST(ResolveNode, FindsTheOperatorOfANodeThatAPassMade) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).node("Relu", {"x"}, {"y"}).output("y");
  Sink sink;
  auto graph = load(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  Node node;
  node.op_type = "Sigmoid";
  node.inputs = {graph->outputs[0]};
  node.outputs = {graph->add_value({})};
  EXPECT_TRUE(resolve_node(*graph, node, sink)) << errors_of(sink);
  EXPECT_EQ(graph->value(node.outputs[0]).shape, Shape{2});
}

// Only one branch fits the shape of x, and the input that chooses could be a constant.
TEST(Resolve, NamesTheInputThatChoosesABranchWhichCannotBeCompiled) {
  ModelBuilder fits, other;
  fits.node("Relu", {"x"}, {"f"}).output("f", DType::kF32, {2, 3});
  other.initializer("w", Tensor::of<float>({5, 3}, std::vector<float>(15)));
  other.node("MatMul", {"x", "w"}, {"o"}).output("o", DType::kF32, {2, 3});
  ModelBuilder model;
  model.input("x", DType::kF32, {2, 3}).input("rate", DType::kS64, {});
  model.initializer("fast", Tensor::of<std::int64_t>({}, {16000}));
  model.node("Equal", {"rate", "fast"}, {"is_fast"}).node("If", {"is_fast"}, {"y"});
  model.subgraph("then_branch", fits).subgraph("else_branch", other);
  model.output("y");
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  const auto reports = sink.sorted();
  ASSERT_EQ(reports.size(), 2U) << errors_of(sink);
  EXPECT_EQ(reports[0].input, "rate");
  EXPECT_EQ(reports[0].input_file, 1);
  EXPECT_NE(errors_of(sink).find("--constant rate=N or rate=FILE.pb"), std::string::npos)
      << errors_of(sink);
}

}  // namespace
}  // namespace etch
