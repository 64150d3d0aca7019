// Refusals of the importer that import_test.cc does not provoke on its way: class and words of
// each, and limits to the last byte. What a limit's message says of the flag that raises it is
// tested with the flags.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/import/file.h"
#include "compiler/import/import.h"
#include "tests/support/model_builder.h"

namespace etch {
namespace {

using Proto = onnx::AttributeProto;

// x [1,4] -> Relu -> y.
ModelBuilder relu_model() {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 4}).node("Relu", {"x"}, {"y"}).output("y");
  return model;
}

// The errors without "model: error".
std::string refusal(const ModelBuilder& model, const ImportOptions& options = {}) {
  Sink sink;
  const bool imported = import_graph(model, sink, options).has_value();
  EXPECT_NE(imported, sink.has_errors());
  std::string out;
  for (const Diagnostic& each : sink.sorted()) {
    if (each.severity != Severity::kError) continue;
    const std::string where = each.location.empty() ? "" : each.location + ": ";
    out += (out.empty() ? "" : "\n") + std::string(code_of(each.kind)) + " " + where + each.message;
  }
  return out;
}

// The class and what is at fault.
std::string limited(const ModelBuilder& model, std::size_t name_bytes) {
  ImportOptions options;
  options.limits.name_bytes = static_cast<std::int64_t>(name_bytes);
  const std::string text = refusal(model, options);
  return text.substr(0, text.find(':'));
}

std::string attribute_refusal(void (*change)(Proto&)) {
  ModelBuilder model = relu_model();
  Proto& attribute = *model.last_node().add_attribute();
  attribute.set_name("a");
  change(attribute);
  return refusal(model);
}

constexpr char kNodeA[] = "node #0 (Relu) attribute 'a': ";

TEST(AttributeRefusals, SayWhatIsWrong) {
  const std::string at = kNodeA;
  EXPECT_EQ(attribute_refusal([](Proto&) {}), "E-ATTR " + at + "has no type");
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_ref_attr_name("b"); }),
            "E-ATTR " + at + "refers to an attribute of a function, but is not in one");
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.clear_name(); }),
            "E-NAME node #0 (Relu) attribute '': has no name");
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_name("org.etch.four_bits"); }),
            "E-ATTR node #0 (Relu) attribute 'org.etch.four_bits': is not an attribute of this "
            "operator");
  ModelBuilder twice = relu_model();
  for (int i = 0; i < 2; ++i) {
    Proto& attribute = *twice.last_node().add_attribute();
    attribute.set_name("a");
    attribute.set_type(Proto::INT);
  }
  EXPECT_EQ(refusal(twice), "E-ATTR " + at + "is given twice");
}

TEST(AttributeRefusals, OfTypesThatNothingTakes) {
  const std::string subgraph = std::string("E-UNSUPPORTED ") + kNodeA +
                               "is a subgraph, which only If, Loop, Scan and FlexAttention have";
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_type(Proto::GRAPH); }), subgraph);
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_type(Proto::GRAPHS); }), subgraph);
  const std::string other =
      std::string("E-UNSUPPORTED ") + kNodeA + "has a type that no supported operator takes";
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_type(Proto::TENSORS); }), other);
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_type(Proto::SPARSE_TENSOR); }), other);
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_type(Proto::SPARSE_TENSORS); }), other);
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_type(Proto::TYPE_PROTO); }), other);
  EXPECT_EQ(attribute_refusal([](Proto& a) { a.set_type(Proto::TYPE_PROTOS); }), other);
}

// Every field of the message, filled beside the type INT or, the integer, beside FLOAT.
TEST(AttributeRefusals, OfEveryFieldThatTheTypeContradicts) {
  void (*const fill[])(Proto&) = {
      [](Proto& a) { a.set_f(0); },
      [](Proto& a) { a.set_s(""); },
      [](Proto& a) { a.mutable_t(); },
      [](Proto& a) { a.mutable_g(); },
      [](Proto& a) { a.mutable_sparse_tensor(); },
      [](Proto& a) { a.mutable_tp(); },
      [](Proto& a) { a.add_floats(0); },
      [](Proto& a) { a.add_ints(0); },
      [](Proto& a) { a.add_strings(""); },
      [](Proto& a) { a.add_tensors(); },
      [](Proto& a) { a.add_graphs(); },
      [](Proto& a) { a.add_sparse_tensors(); },
      [](Proto& a) { a.add_type_protos(); },
  };
  const std::string expected =
      std::string("E-ATTR ") + kNodeA + "has a type that its content contradicts";
  for (std::size_t field = 0; field < std::size(fill); ++field) {
    ModelBuilder model = relu_model();
    Proto& attribute = *model.last_node().add_attribute();
    attribute.set_name("a");
    attribute.set_type(Proto::INT);
    fill[field](attribute);
    EXPECT_EQ(refusal(model), expected) << field;
  }
  EXPECT_EQ(attribute_refusal([](Proto& a) {
              a.set_type(Proto::FLOAT);
              a.set_i(0);
            }),
            expected);
}

TEST(AttributeRefusals, OfATensorWithoutAPayload) {
  EXPECT_EQ(attribute_refusal([](Proto& a) {
              a.set_type(Proto::TENSOR);
              a.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
            }),
            std::string("E-TENSOR ") + kNodeA +
                "needs 1 numbers in the field for float32, has 0 there and 0 in other fields");
}

TEST(NameRefusals, CountToTheLastByteWhereverANameStands) {
  const std::string name = "12345678";  // longer than all others here
  const std::vector<std::pair<std::string, void (*)(ModelBuilder&, const std::string&)>> places = {
      {"initializer",
       [](ModelBuilder& m, const std::string& n) { m.initializer(n, Tensor(DType::kF32, {1})); }},
      {"input", [](ModelBuilder& m, const std::string& n) { m.input(n, DType::kF32, {1}); }},
      {"node", [](ModelBuilder& m, const std::string& n) { m.last_node().set_name(n); }},
      {"domain", [](ModelBuilder& m, const std::string& n) { m.last_node().set_domain(n); }},
      {"operator", [](ModelBuilder& m, const std::string& n) { m.last_node().set_op_type(n); }},
      {"output", [](ModelBuilder& m, const std::string& n) { m.last_node().add_output(n); }},
      {"attribute", [](ModelBuilder& m, const std::string& n) {
         Proto& attribute = *m.last_node().add_attribute();
         attribute.set_name(n);
         attribute.set_type(Proto::INT);
       }}};
  for (const auto& [place, give_name] : places) {
    ModelBuilder model = relu_model();
    give_name(model, name);
    EXPECT_EQ(limited(model, name.size()), "") << place;
    EXPECT_EQ(limited(model, name.size() - 1).substr(0, 8), "E-LIMIT ") << place;
  }
}

TEST(NameRefusals, OfInitializersAndInputs) {
  ModelBuilder unnamed = relu_model();
  unnamed.initializer("", Tensor(DType::kF32, {1}));
  EXPECT_EQ(refusal(unnamed), "E-NAME initializer '': has no name");
  ModelBuilder twice = relu_model();
  twice.initializer("w", Tensor(DType::kF32, {1})).initializer("w", Tensor(DType::kF32, {1}));
  EXPECT_EQ(refusal(twice), "E-GRAPH initializer 'w': is given twice");
  ModelBuilder input = relu_model();
  input.input("", DType::kF32, {1});
  EXPECT_EQ(refusal(input), "E-GRAPH input '': has no name");
  ModelBuilder inputs = relu_model();
  inputs.input("x", DType::kF32, {1, 4});
  EXPECT_EQ(refusal(inputs), "E-GRAPH input 'x': is given twice");
}

TEST(GraphRefusals, SayWhatIsDefinedTwice) {
  ModelBuilder model = relu_model();
  model.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(refusal(model), "E-GRAPH node #1 (Relu): output 'y' is defined already");
  ModelBuilder listed = relu_model();
  listed.output("y");
  EXPECT_EQ(refusal(listed), "E-GRAPH output 'y': is listed twice");
}

TEST(GraphRefusals, OfAGraphWithoutOutputs) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1}).node("Relu", {"x"}, {"y"});
  EXPECT_EQ(refusal(model), "E-GRAPH the graph has no outputs");
}

TEST(GraphRefusals, OfAnOutputOfAForeignType) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1}).node("Relu", {"x"}, {"y"}).output("y", DType::kF32, {1});
  auto& type = *model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::STRING);
  EXPECT_EQ(refusal(model), "E-TYPE output 'y': element type string (8) is not supported");
}

TEST(GraphRefusals, AFaultyConstantIsReportedWithoutItsUsers) {
  ModelBuilder model = relu_model();
  model.initializer("w", Tensor(DType::kF32, {2})).node("Add", {"x", "w"}, {"z"});
  model.graph().mutable_initializer(0)->set_raw_data("1234");
  EXPECT_EQ(refusal(model), "E-TENSOR initializer 'w': needs 8 bytes of raw data, has 4");
  ModelBuilder sparse = relu_model();
  sparse.node("Add", {"x", "w"}, {"z"});
  for (const char* name : {"w", "w", ""})
    sparse.graph().add_sparse_initializer()->mutable_values()->set_name(name);
  EXPECT_EQ(refusal(sparse),
            "E-UNSUPPORTED sparse initializer 'w': sparse tensors cannot be compiled\n"
            "E-UNSUPPORTED sparse initializer 'w': sparse tensors cannot be compiled\n"
            "E-UNSUPPORTED sparse initializer '': sparse tensors cannot be compiled");
}

TEST(GraphRefusals, OfCuts) {
  ImportOptions options;
  options.cuts = {"y"};
  EXPECT_EQ(refusal(relu_model(), options), "");
  options.cuts = {"y", "y"};
  EXPECT_EQ(refusal(relu_model(), options), "E-NAME --cut 'y': is given twice");
  options.cuts = {"nowhere"};
  EXPECT_EQ(refusal(relu_model(), options),
            "E-NAME --cut 'nowhere': is no input, initializer, node or output of a node");
}

TEST(DeclarationRefusals, NameBothSides) {
  EXPECT_EQ(refusal(relu_model().value_info("x", DType::kS8, {1, 4})),
            "E-TYPE value 'x': is declared as int8, elsewhere as float32");
  for (const std::int64_t size : {3, 5}) {
    EXPECT_EQ(
        refusal(relu_model().value_info("x", DType::kF32, {1, size})),
        "E-SHAPE value 'x': is declared as [1, " + std::to_string(size) + "], elsewhere as [1, 4]");
  }
  EXPECT_EQ(refusal(relu_model().value_info("x", DType::kF32, {1, 4, 1})),
            "E-SHAPE value 'x': is declared as [1, 4, 1], elsewhere as [1, 4]");
}

TEST(DeclarationRefusals, NotWhereSomethingIsLeftOpen) {
  for (int what = 0; what < 4; ++what) {
    ModelBuilder model = relu_model().value_info("x", DType::kF32, {1, 4});
    auto& type = *model.graph().mutable_value_info(0)->mutable_type();
    if (what == 0) type.clear_tensor_type();
    if (what == 1) type.mutable_tensor_type()->clear_shape();
    if (what == 2) type.mutable_tensor_type()->clear_elem_type();
    if (what == 3) type.mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(-7);
    EXPECT_EQ(refusal(model), "") << what;
  }
}

TEST(InitializerRefusals, OfOtherTypesOnlyWhereTheyAreUsed) {
  for (const int type : {onnx::TensorProto::STRING, onnx::TensorProto::COMPLEX64}) {
    ModelBuilder model = relu_model();
    onnx::TensorProto tensor;
    tensor.set_name("words");
    tensor.set_data_type(type);
    tensor.add_dims(1);
    *model.graph().add_initializer() = tensor;
    EXPECT_EQ(refusal(model), "");
    model.graph().mutable_node(0)->set_input(0, "words");
    EXPECT_EQ(refusal(model).substr(0, 6), "E-TYPE");
    model = relu_model();
    *model.graph().add_initializer() = tensor;
    model.output("words");
    EXPECT_EQ(refusal(model).substr(0, 6), "E-TYPE");
  }
}

TEST(DeclarationRefusals, OfWhatIsNoTensor) {
  ModelBuilder inner = relu_model().value_info("y", DType::kF32, {1, 4});
  auto& type = *inner.graph().mutable_value_info(0)->mutable_type();
  type.mutable_tensor_type()->set_elem_type(999);
  EXPECT_EQ(refusal(inner), "E-TYPE value 'y': element type 999 is not supported");
  type.mutable_optional_type();
  EXPECT_EQ(refusal(inner), "E-TYPE value 'y': is declared as something else than a tensor");
  ModelBuilder outer = relu_model();
  outer.graph().mutable_output(0)->mutable_type()->mutable_optional_type();
  EXPECT_EQ(refusal(outer), "E-TYPE output 'y': is declared as something else than a tensor");
}

TEST(DeclarationRefusals, OfASizeThatWasLeftOpenBefore) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, 4}).node("Relu", {"x"}, {"y"});
  model.output("y", DType::kF32, {"N", 4}).value_info("y", DType::kF32, {1, 4});
  EXPECT_EQ(refusal(model), "");
  model.value_info("y", DType::kF32, {1, 5});
  EXPECT_EQ(refusal(model), "E-SHAPE value 'y': is declared as [1, 5], elsewhere as [-1, 4]");
}

TEST(InputRefusals, TestDataOfAnotherRankFixNothing) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, "width"}).output("x");
  ImportOptions options;
  options.data_shapes = {{1, 3, 3}};
  EXPECT_EQ(refusal(model, options),
            "E-SHAPE input 'x': the symbolic size 'width' is not known; fix it with --dim width=N "
            "or --input-shape x=1,N");
}

TEST(InputRefusals, OfSizesWithoutANameSayHowToGiveThem) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1, -1}).output("x");
  EXPECT_EQ(refusal(model),
            "E-SHAPE input 'x': the symbolic size without a name is not known; fix it with "
            "--input-shape x=1,N");
}

TEST(InputRefusals, CountElementsToTheLastOne) {
  ImportOptions options;
  options.limits.elements = 12;
  const auto with = [&](const std::vector<Dim>& shape) {
    ModelBuilder model;
    model.input("x", DType::kF32, shape).output("x");
    return refusal(model, options).substr(0, 8);
  };
  EXPECT_EQ(with({3, 4}), "");
  EXPECT_EQ(with({13}), "E-LIMIT ");
  EXPECT_EQ(with({1, 1, 1, 1, 1, 1, 3, 4}), "");
  EXPECT_EQ(with({1, 1, 1, 1, 1, 1, 1, 3, 4}), "E-LIMIT ");
  EXPECT_EQ(with({INT64_MAX, 4}), "E-LIMIT ");
}

TEST(FileRefusals, OfMoreNodesThanAllowedIsExact) {
  ModelBuilder model = relu_model();
  model.node("Relu", {"y"}, {"z"});
  ImportOptions options;
  options.limits.nodes = 2;
  EXPECT_EQ(refusal(model, options), "");
  options.limits.nodes = 1;
  EXPECT_EQ(refusal(model, options).substr(0, 8), "E-LIMIT ");
}

// Graph, node, attribute, graph, node, attribute, tensor: seven messages in the outermost one.
TEST(FileRefusals, OfMessagesInMessagesAreExact) {
  ModelBuilder model = relu_model();
  Proto& attribute = *model.last_node().add_attribute();
  attribute.set_name("body");
  attribute.set_type(Proto::GRAPH);
  attribute.mutable_g()->add_node()->add_attribute()->mutable_t();
  ImportOptions options;
  options.limits.depth = 7;
  EXPECT_EQ(refusal(model, options),
            "E-UNSUPPORTED node #0 (Relu) attribute 'body': is a subgraph, which only If, Loop, "
            "Scan and FlexAttention have");
  options.limits.depth = 6;
  EXPECT_EQ(refusal(model, options).substr(0, 8), "E-PARSE ");
}

TEST(FileRefusals, OfModelsWithoutAnOperatorSet) {
  ModelBuilder model = relu_model();
  model.proto().clear_opset_import();
  EXPECT_EQ(refusal(model), "E-VERSION the model imports no operator set");
}

TEST(FileRefusals, OfVersionsSayWhichAreKnown) {
  EXPECT_EQ(refusal(relu_model().opset("com.microsoft", 2)),
            "E-VERSION the version of com.microsoft must be 1 to 1, got 2");
  EXPECT_EQ(refusal(relu_model().opset("org.tensorflow", 3)), "");
  EXPECT_EQ(refusal(relu_model().opset("org.tensorflow", 0)),
            "E-VERSION the version of org.tensorflow must be 1 to 9223372036854775807, got 0");
  ModelBuilder model = relu_model();
  model.proto().set_ir_version(2);
  EXPECT_EQ(refusal(model), "E-VERSION the IR version must be 3 to 14, got 2");
}

TEST(FileRefusals, NotOfTrainingInformation) {
  ModelBuilder model = relu_model();
  model.proto().add_training_info();
  Sink sink;
  EXPECT_TRUE(import_graph(model, sink).has_value());
  EXPECT_EQ(reports_of(sink), "model: note[E-UNSUPPORTED]: training information is ignored\n");
}

class ModelFile : public ::testing::Test {
 protected:
  ~ModelFile() override { std::remove(path_.c_str()); }
  std::string read(const std::string& path, std::size_t most = 5) {
    Sink sink;
    const auto bytes = read_file(path, most, "", sink);
    EXPECT_NE(bytes.has_value(), sink.has_errors());
    return bytes ? *bytes : errors_of(sink);
  }
  const std::string path_ =
      ::testing::TempDir() + "etch_model_file_test_" + std::to_string(::getpid());
};

TEST_F(ModelFile, IsReadToTheLastByteThatIsAllowed) {
  std::ofstream(path_) << "12345";
  EXPECT_EQ(read(path_), "12345");
  std::ofstream(path_) << "123456";
  EXPECT_EQ(read(path_).substr(0, 21), "model: error[E-LIMIT]");
}

TEST_F(ModelFile, MustBeThereAndAFile) {
  EXPECT_EQ(read(path_), "model: error[E-IO]: cannot open: No such file or directory\n");
  EXPECT_EQ(read("/"), "model: error[E-IO]: is a folder, not a file\n");
  EXPECT_EQ(read("/dev/null"), "model: error[E-IO]: not a regular file\n");
}

// A file of sysfs says that it has a page, and holds less.
TEST_F(ModelFile, MustNotBecomeShorter) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  EXPECT_EQ(read(path, 1 << 20), "model: error[E-IO]: became shorter while it was read\n");
}

}  // namespace
}  // namespace etch
