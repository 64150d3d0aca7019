// Functions that a model has, and branches of If: what their nodes become, and what is
// refused.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ops/evaluate.h"
#include "tests/support/model_builder.h"
#include "tests/support/tensors.h"

namespace etch {
namespace {

using Names = std::vector<std::string>;

onnx::NodeProto& add_node(onnx::NodeProto* node, const std::string& type, const Names& inputs,
                          const Names& outputs, const std::string& domain = "") {
  node->set_op_type(type);
  node->set_domain(domain);
  for (const std::string& name : inputs) node->add_input(name);
  for (const std::string& name : outputs) node->add_output(name);
  return *node;
}

onnx::FunctionProto& add_function(ModelBuilder& model, const std::string& name, const Names& inputs,
                                  const Names& outputs) {
  onnx::FunctionProto& function = *model.proto().add_functions();
  function.set_name(name);
  function.set_domain("f");
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  return function;
}

// x [4] -> f.outer -> y, where outer(a) is inner(inner(a)) and inner(a) is Relu(Neg(a)).
ModelBuilder nested_model() {
  ModelBuilder model;
  model.opset("f", 1);
  model.input("x", DType::kF32, {4}).node("outer", {"x"}, {"y"}, {}, "f").output("y");
  model.last_node().set_name("top");
  auto& inner = add_function(model, "inner", {"a"}, {"b"});
  add_node(inner.add_node(), "Neg", {"a"}, {"n"}).set_name("neg");
  add_node(inner.add_node(), "Relu", {"n"}, {"b"});
  auto& outer = add_function(model, "outer", {"a"}, {"b"});
  add_node(outer.add_node(), "inner", {"a"}, {"m"}, "f");
  add_node(outer.add_node(), "inner", {"m"}, {"b"}, "f").set_name("second");
  return model;
}

std::string listing(const ModelBuilder& model) {
  Sink sink;
  const auto graph = import_graph(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  std::string out;
  if (!graph) return out;
  for (const Node& node : graph->nodes)
    out += cat(node.op_type, " '", node.name, "' ", graph->value(node.outputs[0]).name, "\n");
  return out;
}

std::string errors_of_node(const ModelBuilder& model, const ImportOptions& options = {}) {
  Sink sink;
  EXPECT_FALSE(load(model, sink, options));
  return errors_of(sink);
}

Tensor result(const ModelBuilder& model, const Tensor& x) {
  Sink sink;
  const auto graph = load(model, sink);
  EXPECT_TRUE(graph) << errors_of(sink);
  return graph ? evaluate(*graph, {x}).at(0) : x;
}

TEST(Functions, BecomeTheirNodesUnderNamesOfTheCalls) {
  EXPECT_EQ(listing(nested_model()),
            "Neg 'top/inner#0/neg' top/inner#0/n\n"
            "Relu 'top/inner#0/Relu#1' top/m\n"
            "Neg 'top/second/neg' top/second/n\n"
            "Relu 'top/second/Relu#1' y\n");
  EXPECT_EQ(result(nested_model(), f32({4}, {-1, -2, -3, -4})), f32({4}, {0, 0, 0, 0}));
}

TEST(Functions, ThatNothingCallsAreIgnored) {
  ModelBuilder model;
  model.input("x", DType::kF32, {4}).node("Relu", {"x"}, {"y"}).output("y");
  add_node(add_function(model, "g", {}, {}).add_node(), "Nonsense", {"no"}, {});
  EXPECT_EQ(listing(model), "Relu '' y\n");
}

TEST(Functions, MayBeCutAtNamesInside) {
  ImportOptions options;
  options.cuts = {"top/m"};
  Sink sink;
  const auto graph = import_graph(nested_model(), sink, options);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->nodes.size(), 2U);
}

TEST(Functions, PassInputsThroughAndLeaveOutOptionalOnes) {
  ModelBuilder model;
  model.opset("f", 1);
  model.input("x", DType::kF32, {4}).node("g", {"x"}, {"y", "z"}, {}, "f");
  model.output("y").output("z");
  auto& g = add_function(model, "g", {"a", "least"}, {"a", "c"});
  add_node(g.add_node(), "Clip", {"a", "least"}, {"c"});
  EXPECT_EQ(result(model, f32({4}, {-1, 0, 1, 2})), f32({4}, {-1, 0, 1, 2}));
}

// LeakyRelu whose alpha is the function's attribute `slope`.
ModelBuilder slope_model(bool has_default) {
  ModelBuilder model;
  model.opset("f", 1);
  model.input("x", DType::kF32, {1}).node("g", {"x"}, {"y"}, {}, "f").output("y");
  auto& g = add_function(model, "g", {"a"}, {"b"});
  auto& alpha = *add_node(g.add_node(), "LeakyRelu", {"a"}, {"b"}).add_attribute();
  alpha.set_name("alpha");
  alpha.set_type(onnx::AttributeProto::FLOAT);
  alpha.set_ref_attr_name("slope");
  if (!has_default) {
    g.add_attribute("slope");
    return model;
  }
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.25F);
  g.mutable_unknown_fields()->AddLengthDelimited(11)->assign(slope.SerializeAsString());
  return model;
}

void set_slope(ModelBuilder& model, float value) {
  auto& slope = *model.last_node().add_attribute();
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(value);
}

TEST(FunctionAttributes, ComeFromTheCallOrADefaultOrTheOperator) {
  const Tensor x = f32({1}, {-1});
  EXPECT_EQ(result(slope_model(true), x), f32({1}, {-0.25F}));
  EXPECT_EQ(result(slope_model(false), x), f32({1}, {-0.01F}));
  ModelBuilder model = slope_model(true);
  set_slope(model, 0.5F);
  EXPECT_EQ(result(model, x), f32({1}, {-0.5F}));
}

TEST(FunctionAttributes, MustBeKnownAndOfTheirType) {
  ModelBuilder model = slope_model(false);
  auto& other = *model.last_node().add_attribute();
  other.set_name("other");
  EXPECT_EQ(errors_of_node(model),
            "model: error[E-ATTR]: node #0 (g): the function has no attribute 'other'\n");
  model = slope_model(false);
  set_slope(model, 1);
  model.last_node().mutable_attribute(0)->set_type(onnx::AttributeProto::INT);
  EXPECT_EQ(errors_of_node(model),
            "model: error[E-ATTR]: node 'g#0/LeakyRelu#0' (LeakyRelu) attribute 'alpha': refers to "
            "'slope', which has another type\n");
}

TEST(Functions, AreChosenByOverload) {
  ModelBuilder model = nested_model();
  auto& other = add_function(model, "outer", {"a"}, {"b"});
  add_node(other.add_node(), "Abs", {"a"}, {"b"});
  other.mutable_unknown_fields()->AddLengthDelimited(13)->assign("v2");
  EXPECT_EQ(listing(model).substr(0, 4), "Neg ");
  model.last_node().mutable_unknown_fields()->AddLengthDelimited(8)->assign("v2");
  EXPECT_EQ(listing(model), "Abs 'top/Abs#0' y\n");
}

TEST(Functions, AreRefusedWhereTheyAreGivenTwiceOrCallThemselves) {
  ModelBuilder model = nested_model();
  add_function(model, "inner", {}, {});
  EXPECT_EQ(errors_of_node(model), "model: error[E-GRAPH]: function 'inner': is given twice\n");
  model = nested_model();
  add_node(model.proto().mutable_functions(0)->add_node(), "outer", {"a"}, {"c"}, "f");
  const std::string found = errors_of_node(model);
  EXPECT_NE(found.find("function 'outer' calls itself"), std::string::npos) << found;
}

TEST(Functions, MustImportTheModelsOperatorSets) {
  ModelBuilder model = nested_model();
  auto& import = *model.proto().mutable_functions(0)->add_opset_import();
  import.set_version(13);
  EXPECT_NE(listing(model), "");
  import.set_version(12);
  const std::string found = errors_of_node(model);
  EXPECT_NE(found.find("error[E-VERSION]: node 'top/inner#0/neg' (Neg): is in function 'inner', "
                       "which imports version 12 of ai.onnx; the model imports 13\n"),
            std::string::npos)
      << found;
}

TEST(Functions, MustMakeTheirResultsAndTakeTheirInputs) {
  ModelBuilder model = nested_model();
  model.proto().mutable_functions(1)->set_output(0, "no");
  const std::string found = errors_of_node(model);
  EXPECT_NE(found.find("its result 'no' is no input"), std::string::npos) << found;
  model = nested_model();
  model.last_node().add_input("x");
  EXPECT_EQ(errors_of_node(model),
            "model: error[E-GRAPH]: node 'top' (outer): the function has 1 inputs and 1 outputs, "
            "the node 2 and 1\n");
}

// Each of `levels` functions calls the one below it twice; the lowest does nothing.
ModelBuilder doubling_model(int levels) {
  ModelBuilder model;
  model.opset("f", 1);
  model.input("x", DType::kF32, {1}).node("Relu", {"x"}, {"y"}).output("y");
  for (int i = 0; i < levels; ++i) {
    auto& function = add_function(model, cat("f", i), {}, {});
    for (int k = 0; i > 0 && k < 2; ++k)
      add_node(function.add_node(), cat("f", i - 1), {}, {}, "f");
  }
  model.node(cat("f", levels - 1), {}, {}, {}, "f");
  return model;
}

TEST(Functions, ThatGrowExponentiallyAreRefused) {
  const std::string found = errors_of_node(doubling_model(30));
  EXPECT_NE(found.find("error[E-LIMIT]: has more than 16384 nodes"), std::string::npos) << found;
  ImportOptions options;
  options.limits.nodes = 2 + 2 + 4;
  EXPECT_EQ(listing(doubling_model(3)), "Relu '' y\n");
  Sink sink;
  EXPECT_TRUE(import_graph(doubling_model(3), sink, options)) << errors_of(sink);
  options.limits.nodes -= 1;
  EXPECT_FALSE(import_graph(doubling_model(3), sink, options));
}

TEST(Functions, NestAsDeepAsMessages) {
  ImportOptions options;
  options.limits.depth = 10;
  Sink sink;
  EXPECT_TRUE(import_graph(doubling_model(10), sink, options)) << errors_of(sink);
  const std::string found = errors_of_node(doubling_model(11), options);
  EXPECT_NE(found.find("error[E-LIMIT]"), std::string::npos) << found;
  EXPECT_NE(found.find("functions are nested too deeply, at most 10"), std::string::npos) << found;
}

TEST(Functions, MayNotRepeatTooManyBytes) {
  ModelBuilder model = nested_model();
  model.proto().mutable_functions(0)->set_doc_string(std::string(4000, 'x'));
  ImportOptions options;
  Sink sink;
  options.limits.computed_bytes = 1;  // 16 times the file remain
  EXPECT_TRUE(import_graph(model, sink, options)) << errors_of(sink);
  for (int i = 0; i < 20; ++i)
    add_node(model.proto().mutable_functions(1)->add_node(), "inner", {"a"}, {cat("c", i)}, "f");
  const std::string found = errors_of_node(model, options);
  EXPECT_NE(found.find("calls of functions repeat too many bytes of the file"), std::string::npos)
      << found;
}

Tensor truth(bool value) {
  Tensor out(DType::kBool, {});
  out.mutable_bytes()[0] = static_cast<std::byte>(value);
  return out;
}

// y = condition ? Relu(x) : k, with the condition a bool called "c".
ModelBuilder if_model(bool is_constant, bool condition = true) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  if (is_constant) {
    model.initializer("c", truth(condition));
  } else {
    model.input("c", DType::kBool, {});
  }
  model.node("If", {"c"}, {"y"}).output("y");
  auto& node = model.last_node();
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    attribute.mutable_g()->add_output()->set_name("r");
  }
  add_node(node.mutable_attribute(0)->mutable_g()->add_node(), "Relu", {"x"}, {"r"});
  fill_proto(f32({2}, {7, 8}), *node.mutable_attribute(1)->mutable_g()->add_initializer());
  node.mutable_attribute(1)->mutable_g()->mutable_initializer(0)->set_name("r");
  return model;
}

TEST(If, NeedsItsCondition) {
  ModelBuilder model = if_model(false);
  model.last_node().set_input(0, "");
  Sink sink;
  EXPECT_FALSE(load(model, sink));
  EXPECT_NE(errors_of(sink).find("input 0 (cond) is required, but omitted"), std::string::npos);
}

TEST(If, TakesTheBranchThatAConstantChooses) {
  const Tensor x = f32({2}, {-1, 1});
  EXPECT_EQ(result(if_model(true, true), x), f32({2}, {0, 1}));
  EXPECT_EQ(result(if_model(true, false), x), f32({2}, {7, 8}));
}

TEST(If, HasBothBranchesWhereTheConditionIsNotKnown) {
  Sink sink;
  const auto graph = load(if_model(false), sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  const Tensor x = f32({2}, {-1, 1});
  EXPECT_EQ(evaluate(*graph, {x, truth(true)}).at(0), f32({2}, {0, 1}));
  EXPECT_EQ(evaluate(*graph, {x, truth(false)}).at(0), f32({2}, {7, 8}));
}

TEST(If, BranchesSeeNamesThatLaterNodesOfTheFileMake) {
  ModelBuilder model = if_model(true);
  auto& inner = *model.last_node().mutable_attribute(0)->mutable_g()->mutable_node(0);
  inner.set_input(0, "later");
  model.node("Neg", {"x"}, {"later"});
  EXPECT_EQ(result(model, f32({2}, {-1, 1})), f32({2}, {1, 0}));
}

TEST(If, BranchesMustNotReadTheIfsOwnResult) {
  ModelBuilder model = if_model(true);
  model.last_node().mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, "y");
  const std::string found = errors_of_node(model);
  EXPECT_NE(found.find("input 'y' depends on what this node makes: a cycle"), std::string::npos)
      << found;
}

TEST(If, OperatorsInTheOtherBranchNeedNotBeKnown) {
  ModelBuilder model = if_model(true, false);
  auto& inner = *model.last_node().mutable_attribute(0)->mutable_g()->mutable_node(0);
  inner.set_op_type("Nonsense");
  EXPECT_EQ(result(model, f32({2}, {0, 0})), f32({2}, {7, 8}));
  model.proto().mutable_graph()->mutable_initializer(0)->Clear();
  fill_proto(truth(true), *model.graph().mutable_initializer(0));
  model.graph().mutable_initializer(0)->set_name("c");
  const std::string found = errors_of_node(model);
  EXPECT_NE(found.find("E-OP"), std::string::npos) << found;
}

TEST(If, MustHaveTwoBranchesWithItsOutputs) {
  ModelBuilder model = if_model(true);
  model.last_node().mutable_attribute()->RemoveLast();
  EXPECT_EQ(errors_of_node(model),
            "model: error[E-ATTR]: node #0 (If): attribute 'else_branch' is missing\n");
  model = if_model(true);
  model.last_node().mutable_attribute(1)->mutable_g()->add_output()->set_name("x");
  EXPECT_EQ(errors_of_node(model),
            "model: error[E-GRAPH]: node #0 (If): has 1 outputs, a branch has 2\n");
  model = if_model(true);
  model.last_node().add_input("x");
  EXPECT_EQ(errors_of_node(model),
            "model: error[E-GRAPH]: node #0 (If): must have 1 input, has 2\n");
}

TEST(If, StaysWithWhatItsBranchesReadWhenTheGraphIsCut) {
  ModelBuilder model = if_model(true);
  model.node("Neg", {"x"}, {"unused"});
  ImportOptions options;
  options.cuts = {"y"};
  Sink sink;
  const auto graph = load(model, sink, options);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(evaluate(*graph, {f32({2}, {-1, 1})}).at(0), f32({2}, {0, 1}));
}

}  // namespace
}  // namespace etch
