// What a file consists of is counted before it is parsed; each kind of message that protobuf makes
// an object of counts.
#include "compiler/import/parts.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <limits>
#include <string>

#include "tests/support/model_builder.h"

namespace etch {
namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max() - 1;

std::int64_t parts(const onnx::ModelProto& model) {
  return count_parts(model.SerializeAsString(), kAny);
}

TEST(Parts, AreMessagesAndStringsOfLists) {
  onnx::ModelProto model;
  EXPECT_EQ(parts(model), 0);
  model.set_ir_version(8);
  EXPECT_EQ(parts(model), 0);
  model.set_producer_name("p");
  EXPECT_EQ(parts(model), 0);
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  EXPECT_EQ(parts(model), 2);
  node.add_input("a");
  node.add_input("");
  EXPECT_EQ(parts(model), 4);
  node.add_attribute()->mutable_t()->set_raw_data(std::string(1000, '\x0a'));  // no messages
  EXPECT_EQ(parts(model), 6);
}

TEST(Parts, AreFoundInEveryMessageThatCanHoldMany) {
  onnx::ModelProto model;
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::TensorProto& tensor = *graph.add_initializer();
  auto& type = *graph.add_value_info()->mutable_type();
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  onnx::AttributeProto& attribute = *graph.add_node()->add_attribute();
  onnx::FunctionProto& function = *model.add_functions();
  auto& sequence = *graph.add_output()->mutable_type()->mutable_sequence_type();
  auto& element = *sequence.mutable_elem_type()->mutable_tensor_type()->mutable_shape();
  std::int64_t before = parts(model);
  const auto expect_more = [&](const char* what) {
    const std::int64_t now = parts(model);
    EXPECT_EQ(now, before + 10) << what;
    before = now;
  };
  const auto ten_times = [&](const char* what, const auto& add) {
    for (int i = 0; i < 10; ++i) add();
    expect_more(what);
  };
  ten_times("nodes", [&] { graph.add_node(); });
  ten_times("initializers", [&] { graph.add_initializer(); });
  ten_times("inputs", [&] { graph.add_input(); });
  ten_times("outputs", [&] { graph.add_output(); });
  ten_times("values", [&] { graph.add_value_info(); });
  ten_times("annotations", [&] { graph.add_quantization_annotation(); });
  ten_times("sparse tensors", [&] { graph.add_sparse_initializer(); });
  ten_times("external data", [&] { tensor.add_external_data(); });
  ten_times("sizes", [&] { shape.add_dim(); });
  ten_times("sizes in a sequence", [&] { element.add_dim(); });
  ten_times("attributes", [&] { graph.mutable_node(0)->add_attribute(); });
  ten_times("tensors of an attribute", [&] { attribute.add_tensors(); });
  ten_times("graphs of an attribute", [&] { attribute.add_graphs(); });
  ten_times("strings of an attribute", [&] { attribute.add_strings("s"); });
  ten_times("nodes of a function", [&] { function.add_node(); });
  ten_times("inputs of a node", [&] { graph.mutable_node(0)->add_input("i"); });
  ten_times("outputs of a node", [&] { graph.mutable_node(0)->add_output("o"); });
  ten_times("strings of a tensor", [&] { tensor.add_string_data("s"); });
  ten_times("inputs of a function", [&] { function.add_input("i"); });
  ten_times("training", [&] { model.add_training_info(); });
  ten_times("metadata", [&] { model.add_metadata_props(); });
  ten_times("operator sets", [&] { model.add_opset_import(); });
}

TEST(Parts, AreCountedUpToOneMoreThanTheLimit) {
  onnx::ModelProto model;
  for (int i = 0; i < 1000; ++i) model.mutable_graph()->add_node();
  EXPECT_EQ(count_parts(model.SerializeAsString(), 7), 8);
}

TEST(Parts, EndWhereBytesAreNoMessage) {
  EXPECT_EQ(count_parts("\x3a\x7f", kAny), 1);          // shorter than it says
  EXPECT_EQ(count_parts("\x3a\x02\x0a\x05", kAny), 2);  // the node is longer than its graph
  EXPECT_EQ(count_parts("\xff\xff\xff\xff\xff\xff", kAny), 0);
}

// Two bytes each: more than a hundred times that as objects.
TEST(Parts, OfAFileAreLimited) {
  ModelBuilder model;
  model.input("x", DType::kF32, {1}).node("Relu", {"x"}, {"y"}).output("y");
  ImportOptions options;
  options.limits.parts = count_parts(model.bytes(), kAny);
  Sink sink;
  EXPECT_TRUE(import_graph(model, sink, options)) << errors_of(sink);
  --options.limits.parts;
  EXPECT_FALSE(import_graph(model, sink, options));
  EXPECT_EQ(errors_of(sink), "model: error[E-LIMIT]: has too many messages and strings, at most " +
                                 std::to_string(options.limits.parts) +
                                 "; --limit parts=N raises this\n");
}

}  // namespace
}  // namespace etch
