// Tests of the importer: versions, wiring, declared types, attributes, and bytes that are no
// model. What inputs declare is tested in declaration_test.cc. Tensor payloads are tested in
// tensor_data_test.cc.
#include "compiler/import/import.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <random>

#include "compiler/passes/resolve.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

ModelBuilder relu_model(std::int64_t opset = 13) {
  ModelBuilder model(opset);
  model.input("x", DType::kF32, {1, 4}).node("Relu", {"x"}, {"y"}).output("y");
  return model;
}

std::string errors(const ModelBuilder& model, const ImportOptions& options = {}) {
  Sink sink;
  const auto graph = import_graph(model, sink, options);
  EXPECT_NE(graph.has_value(), sink.has_errors());
  return errors_of(sink);
}

TEST(Import, BuildsTheGraphOfASmallModel) {
  ModelBuilder model = relu_model();
  model.proto().set_producer_name("a test");
  Sink sink;
  const auto graph = import_graph(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->producer, "a test");
  EXPECT_EQ(dump(*graph),
            "graph \"test\" ir 8\n"
            "opset ai.onnx 13\n"
            "opset com.ms.internal.nhwc 13\n"
            "%0 float32[1, 4]  # x\n"
            "%1 ?[?]  # y\n"
            "inputs %0\n"
            "%1 = Relu(%0)\n"
            "outputs %1\n");
}

TEST(Import, AnInitializerListedAsAnInputIsAConstant) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).input("w", DType::kF32, {2});
  model.initializer("w", Tensor::of<float>({2}, {1.0F, 2.0F}));
  model.node("Add", {"x", "w"}, {"y"}).output("y");
  Sink sink;
  const auto graph = import_graph(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->inputs.size(), 1U);
  EXPECT_NE(graph->value(graph->nodes[0].inputs[1]).constant, nullptr);
}

TEST(Import, ReadsEveryTypeOfAttribute) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  const std::map<std::string, Attribute> attributes = {
      {"int", 7},
      {"float", 0.5F},
      {"string", "text"},
      {"ints", Ints{1, -2}},
      {"no ints", Ints{}},
      {"floats", Floats{1.5F}},
      {"strings", std::vector<std::string>{"a", std::string("b\0c", 3)}},
      {"tensor", Tensor::of<std::int8_t>({2}, {3, -4})}};
  model.node("Anything", {"x"}, {"y"}, attributes).output("y");
  Sink sink;
  const auto graph = import_graph(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->nodes[0].attributes, attributes);
}

TEST(Import, TrimsOmittedInputsAtTheEndOnly) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).node("Clip", {"x", "", "x", ""}, {"y"}).output("y");
  Sink sink;
  const auto graph = import_graph(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  EXPECT_EQ(graph->nodes[0].inputs, (std::vector<ValueId>{0, kNoValue, 0}));
}

TEST(ImportVersion, AcceptsTheSupportedRangeOnly) {
  for (const auto& [opset, is_good] :
       {std::pair(6, false), {7, true}, {13, true}, {28, true}, {29, false}}) {
    EXPECT_EQ(errors(relu_model(opset)).empty(), is_good) << opset;
  }
  for (const auto& [version, is_good] :
       {std::pair(2, false), {3, true}, {14, true}, {15, false}, {-1, false}}) {
    ModelBuilder model = relu_model();
    model.proto().set_ir_version(version);
    EXPECT_EQ(errors(model).empty(), is_good) << version;
  }
}

TEST(ImportVersion, UnusedForeignDomainsDoNotMatter) {
  EXPECT_EQ(errors(relu_model().opset("ai.onnx.ml", 99).opset("org.example", 3)), "");
}

TEST(ImportVersion, OneDomainHasOneVersion) {
  EXPECT_EQ(errors(relu_model(13).opset("ai.onnx", 13)), "");
  EXPECT_EQ(errors(relu_model(13).opset("ai.onnx", 12)),
            "model: error[E-VERSION]: the domain 'ai.onnx' is imported as version 13 and as 12\n");
}

TEST(ImportVersion, TheNhwcDomainMayBeMissingOrHaveAnyVersion) {
  Sink sink;
  const auto graph = import_graph(relu_model(13), sink);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->opset("com.ms.internal.nhwc"), 13);
  EXPECT_EQ(errors(relu_model().opset("com.ms.internal.nhwc", 1)), "");
  EXPECT_EQ(errors(relu_model().opset("com.ms.internal.nhwc", 99)), "");
  EXPECT_NE(errors(relu_model().opset("com.ms.internal.nhwc", 0)), "");
}

TEST(ImportVersion, AiOnnxIsTheDefaultDomain) {
  ModelBuilder model = relu_model();
  model.last_node().set_domain("ai.onnx");
  Sink sink;
  EXPECT_TRUE(load(model, sink).has_value()) << errors_of(sink);
}

TEST(ImportWiring, EveryNameIsDefinedOnce) {
  EXPECT_NE(errors(relu_model().node("Relu", {"x"}, {"y"})), "");       // two producers
  EXPECT_NE(errors(relu_model().node("Relu", {"y"}, {"x"})), "");       // an input
  EXPECT_NE(errors(relu_model().node("Relu", {"x"}, {"a", "a"})), "");  // within one node
  EXPECT_NE(errors(relu_model().input("x", DType::kF32, {1, 4})), "");  // two inputs
  EXPECT_NE(errors(relu_model().output("y")), "");                      // two outputs
  const Tensor w = Tensor::of<float>({1}, {1.0F});
  EXPECT_NE(errors(relu_model().initializer("w", w).initializer("w", w)), "");
  EXPECT_NE(errors(relu_model().initializer("y", w)), "");  // a node's output
}

TEST(ImportWiring, NodesAreReadInTopologicalOrderAndKeepTheirPlaceInTheFile) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.node("Relu", {"t"}, {"y"}).node("Abs", {"u"}, {"t"}).node("Neg", {"x"}, {"u"}).output("y");
  Sink sink;
  const auto graph = import_graph(model, sink);
  ASSERT_TRUE(graph) << errors_of(sink);
  ASSERT_EQ(graph->nodes.size(), 3U);
  EXPECT_EQ(graph->nodes[0].op_type, "Neg");
  EXPECT_EQ(graph->nodes[0].index, 2);
  EXPECT_EQ(graph->nodes[2].op_type, "Relu");
  ASSERT_EQ(sink.sorted().size(), 1U);
  EXPECT_EQ(format(sink.sorted()[0], "f"),
            "f: note[E-GRAPH]: nodes are not in the order in which they run, and are sorted: node "
            "#0 comes after node #2");
}

TEST(ImportWiring, NodesInTheirOrderAreNotNoted) {
  Sink sink;
  ASSERT_TRUE(import_graph(relu_model().node("Abs", {"y"}, {"z"}), sink)) << errors_of(sink);
  EXPECT_TRUE(sink.sorted().empty());
}

TEST(ImportWiring, ACycleIsNamed) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2});
  model.node("Add", {"x", "t"}, {"y"}).node("Relu", {"y"}, {"t"}).output("y");
  EXPECT_EQ(errors(model),
            "model: error[E-GRAPH]: node #0 (Add): input 't' depends on what this node makes: a "
            "cycle\n");
}

TEST(ImportWiring, ACycleIsRefused) {
  ModelBuilder itself;
  itself.node("Relu", {"y"}, {"y"}).output("y");
  EXPECT_NE(errors(itself), "");
  ModelBuilder two;
  two.node("Relu", {"b"}, {"a"}).node("Relu", {"a"}, {"b"}).output("b");
  EXPECT_NE(errors(two), "");
}

TEST(ImportWiring, WhatNobodyDefinesIsNamed) {
  ModelBuilder model = relu_model();
  model.node("Relu", {"ghost"}, {"z"}).output("spirit");
  EXPECT_EQ(errors(model),
            "model: error[E-GRAPH]: output 'spirit': is no input, initializer or output of a "
            "node\n"
            "model: error[E-GRAPH]: node #1 (Relu): input 'ghost' is no input, initializer or "
            "output of a node\n");
}

TEST(ImportWiring, AnInputMayBeAnOutput) {
  ModelBuilder model;
  model.input("x", DType::kF32, {2}).output("x", DType::kF32, {2});
  EXPECT_EQ(errors(model), "");
}

TEST(ImportWiring, TheEmptyNameIsNotAValue) {
  EXPECT_NE(errors(relu_model().output("")), "");
  EXPECT_NE(errors(relu_model().input("", DType::kF32, {1})), "");
  EXPECT_EQ(errors(relu_model().node("Split", {"x"}, {"", "b"})), "");
}

TEST(ImportDeclarations, MayNotContradictAnInputOrConstant) {
  EXPECT_NE(errors(relu_model().value_info("x", DType::kF32, {1, 5})), "");
  EXPECT_NE(errors(relu_model().value_info("x", DType::kS8, {1, 4})), "");
  EXPECT_EQ(errors(relu_model().value_info("x", DType::kF32, {"N", 4})), "");
  ModelBuilder constant = relu_model();
  constant.initializer("w", Tensor::of<float>({1}, {1.0F})).input("w", DType::kF32, {2});
  EXPECT_NE(errors(constant), "");
}

TEST(ImportDeclarations, OfValuesThatDoNotExistAreIgnored) {
  EXPECT_EQ(errors(relu_model().value_info("ghost", DType::kF32, {1, 5})), "");
}

TEST(ImportAttributes, AreRefusedWhenAmbiguous) {
  const auto broken = [](auto change) {
    ModelBuilder model;
    model.input("x", DType::kF32, {2}).node("Any", {"x"}, {"y"}, {{"a", 3}}).output("y");
    change(*model.last_node().mutable_attribute(0), model.last_node());
    return errors(model);
  };
  using Proto = onnx::AttributeProto;
  EXPECT_EQ(broken([](Proto&, onnx::NodeProto&) {}), "");
  EXPECT_NE(broken([](Proto& a, onnx::NodeProto&) { a.set_type(Proto::INTS); }), "");
  EXPECT_NE(broken([](Proto& a, onnx::NodeProto&) { a.set_f(1.0F); }), "");
  EXPECT_NE(broken([](Proto& a, onnx::NodeProto&) { a.clear_type(); }), "");
  EXPECT_NE(broken([](Proto& a, onnx::NodeProto&) { a.clear_name(); }), "");
  EXPECT_NE(broken([](Proto& a, onnx::NodeProto&) { a.set_ref_attr_name("b"); }), "");
  EXPECT_NE(broken([](Proto& a, onnx::NodeProto& n) { *n.add_attribute() = Proto(a); }), "");
}

TEST(ImportUnsupported, SparseTensorsAreRefused) {
  ModelBuilder sparse = relu_model();
  sparse.graph().add_sparse_initializer()->mutable_values()->set_name("w");
  EXPECT_EQ(errors(sparse),
            "model: error[E-UNSUPPORTED]: sparse initializer 'w': sparse tensors cannot be "
            "compiled\n");
}

TEST(ImportLimits, CountsNodesAndBytes) {
  ModelBuilder model = relu_model();
  model.node("Relu", {"y"}, {"z"});
  ImportOptions options;
  options.limits.nodes = 2;
  EXPECT_EQ(errors(model, options), "");
  options.limits.nodes = 1;
  EXPECT_NE(errors(model, options), "");
  options = {};
  options.limits.file_bytes = static_cast<std::int64_t>(model.bytes().size());
  EXPECT_EQ(errors(model, options), "");
  --options.limits.file_bytes;
  EXPECT_NE(errors(model, options), "");
}

TEST(ImportLimits, NamesAreBoundedAndOtherwiseFree) {
  const auto named = [](const std::string& name) {
    ModelBuilder model;
    model.input(name, DType::kF32, {2}).node("Relu", {name}, {name + "!"}).output(name + "!");
    model.last_node().set_name(name);
    return errors(model);
  };
  EXPECT_EQ(named(std::string("nul\0nul", 7)), "");
  EXPECT_EQ(named(std::string(65'536, 'a')), "");
  EXPECT_EQ(named("\xc3\xa4 \n */"), "");
  EXPECT_EQ(named("\xff\xfe").find("model: error[E-NAME]: input '\\xff\\xfe': a name is not UTF-8"),
            0U);
  EXPECT_NE(named(std::string(200'000, 'a')), "");
}

TEST(ImportBytes, OnlyAWholeModelIsAModel) {
  const std::string good = relu_model().bytes();
  const auto kinds = [](std::string_view bytes) {
    Sink sink;
    const bool is_model = import_model(bytes, {}, sink).has_value();
    EXPECT_NE(is_model, sink.has_errors());
    return sink.has_errors() ? std::string(code_of(sink.sorted()[0].kind)) : "";
  };
  EXPECT_EQ(kinds(good), "");
  EXPECT_EQ(kinds(""), "E-PARSE");
  EXPECT_EQ(kinds("\x08\x08"), "E-GRAPH");  // an IR version and nothing else
  EXPECT_EQ(kinds("{ \"ir_version\": 8 }"), "E-PARSE");
  EXPECT_EQ(kinds(good.substr(0, good.size() - 1)), "E-PARSE");
  EXPECT_EQ(kinds(good + '\x0c'), "E-PARSE");  // a stray end of a group
}

TEST(ImportBytes, DeepNestingIsRefused) {
  onnx::GraphProto graph;
  for (int depth = 0; depth < 40; ++depth) {
    onnx::GraphProto outer;
    auto& attribute = *outer.add_node()->add_attribute();
    attribute.mutable_g()->Swap(&graph);
    graph.Swap(&outer);
  }
  ModelBuilder model;
  model.graph().Swap(&graph);
  Sink sink;
  EXPECT_FALSE(import_graph(model, sink).has_value());
  EXPECT_TRUE(has_error(sink, DiagKind::kParse)) << errors_of(sink);
}

TEST(ImportBytes, DamagedModelsNeverGetThroughUnchecked) {
  ModelBuilder model;
  model.input("x", DType::kU8, {"N", 2, 5, 5});
  model.initializer("w", Tensor(DType::kS8, {3, 2, 3, 3}));
  model.initializer("scale", Tensor::of<float>({}, {0.5F}));
  model.initializer("zero", Tensor::of<std::uint8_t>({}, {3}));
  model.initializer("w_zero", Tensor::of<std::int8_t>({}, {0}));
  model.node("QLinearConv", {"x", "scale", "zero", "w", "scale", "w_zero", "scale", "zero"}, {"t"},
             {{"pads", Ints{1, 1, 1, 1}}});
  model.node("Reshape", {"t", "shape"}, {"y"}).output("y", DType::kU8, {"N", "K"});
  model.initializer("shape", Tensor::of<std::int64_t>({2}, {0, -1}));
  const std::string good = model.bytes();
  Sink whole;
  ASSERT_TRUE(load(model, whole).has_value()) << errors_of(whole);
  std::mt19937 random(1);
  for (unsigned round = 0; round < 4000; ++round) {
    std::string bytes = good;
    for (unsigned change = 0; change <= round % 4; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (round % 8 == 7) bytes.resize(random() % bytes.size());
    Sink sink;
    auto graph = import_model(bytes, {}, sink);
    ASSERT_NE(graph.has_value(), sink.has_errors()) << round;
    if (graph) resolve(*graph, sink);  // verifies the graph
  }
}

}  // namespace
}  // namespace etch
