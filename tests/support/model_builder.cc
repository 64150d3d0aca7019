// See model_builder.h.
#include "tests/support/model_builder.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "compiler/import/tensor_data.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

using Proto = onnx::AttributeProto;

void declare_type(const std::string& name, DType dtype, const std::vector<Dim>& shape,
                  onnx::ValueInfoProto& proto) {
  proto.set_name(name);
  auto& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx_number_of(dtype));
  tensor.mutable_shape();  // present even when the rank is 0
  for (const Dim& size : shape) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    if (const auto* number = std::get_if<std::int64_t>(&size)) {
      dim.set_dim_value(*number);
    } else {
      dim.set_dim_param(std::get<std::string>(size));
    }
  }
}

struct AttributeWriter {
  Proto& proto;

  void operator()(std::int64_t item) const { type(Proto::INT).set_i(item); }
  void operator()(float item) const { type(Proto::FLOAT).set_f(item); }
  void operator()(const std::string& item) const { type(Proto::STRING).set_s(item); }
  void operator()(const Ints& items) const {
    for (const auto item : items) type(Proto::INTS).add_ints(item);
    type(Proto::INTS);
  }
  void operator()(const Floats& items) const {
    for (const auto item : items) type(Proto::FLOATS).add_floats(item);
    type(Proto::FLOATS);
  }
  void operator()(const std::vector<std::string>& items) const {
    for (const auto& item : items) type(Proto::STRINGS).add_strings(item);
    type(Proto::STRINGS);
  }
  void operator()(const Tensor& item) const { fill_proto(item, *type(Proto::TENSOR).mutable_t()); }

 private:
  Proto& type(Proto::AttributeType kind) const {
    proto.set_type(kind);
    return proto;
  }
};

std::string lines_of(const Sink& sink, bool (*wanted)(const Diagnostic&)) {
  std::string out;
  for (const Diagnostic& diagnostic : sink.sorted()) {
    if (wanted(diagnostic)) out += format(diagnostic, "model") + "\n";
  }
  return out;
}

}  // namespace

ModelBuilder::ModelBuilder(std::int64_t opset_version)
    : model_(std::make_unique<onnx::ModelProto>()) {
  model_->set_ir_version(8);
  graph().set_name("test");
  opset("", opset_version);
}

ModelBuilder::ModelBuilder(const ModelBuilder& other)
    : model_(std::make_unique<onnx::ModelProto>(*other.model_)) {}
ModelBuilder::ModelBuilder(ModelBuilder&& other) noexcept = default;
ModelBuilder& ModelBuilder::operator=(const ModelBuilder& other) {
  *model_ = *other.model_;
  return *this;
}
ModelBuilder& ModelBuilder::operator=(ModelBuilder&& other) noexcept = default;
ModelBuilder::~ModelBuilder() = default;

onnx::GraphProto& ModelBuilder::graph() { return *model_->mutable_graph(); }

ModelBuilder& ModelBuilder::node_name(const std::string& name) {
  last_node().set_name(name);
  return *this;
}

onnx::NodeProto& ModelBuilder::last_node() {
  return *graph().mutable_node(graph().node_size() - 1);
}

ModelBuilder& ModelBuilder::opset(const std::string& domain, std::int64_t version) {
  auto& import = *model_->add_opset_import();
  import.set_domain(domain);
  import.set_version(version);
  return *this;
}

ModelBuilder& ModelBuilder::input(const std::string& name, DType dtype,
                                  const std::vector<Dim>& shape) {
  declare_type(name, dtype, shape, *graph().add_input());
  return *this;
}

ModelBuilder& ModelBuilder::initializer(const std::string& name, const Tensor& tensor) {
  auto& proto = *graph().add_initializer();
  proto.set_name(name);
  fill_proto(tensor, proto);
  return *this;
}

ModelBuilder& ModelBuilder::node(const std::string& op_type, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const std::map<std::string, Attribute>& attributes,
                                 const std::string& domain) {
  auto& proto = *graph().add_node();
  proto.set_op_type(op_type);
  proto.set_domain(domain);
  for (const std::string& input_name : inputs) proto.add_input(input_name);
  for (const std::string& output_name : outputs) proto.add_output(output_name);
  for (const auto& [name, attribute] : attributes) {
    auto& attribute_proto = *proto.add_attribute();
    attribute_proto.set_name(name);
    std::visit(AttributeWriter{attribute_proto}, attribute);
  }
  return *this;
}

ModelBuilder& ModelBuilder::subgraph(const std::string& attribute, const ModelBuilder& body) {
  auto& made = *last_node().add_attribute();
  made.set_name(attribute);
  made.set_type(onnx::AttributeProto::GRAPH);
  *made.mutable_g() = body.model_->graph();
  return *this;
}

ModelBuilder& ModelBuilder::output(const std::string& name) {
  graph().add_output()->set_name(name);
  return *this;
}

ModelBuilder& ModelBuilder::output(const std::string& name, DType dtype,
                                   const std::vector<Dim>& shape) {
  declare_type(name, dtype, shape, *graph().add_output());
  return *this;
}

ModelBuilder& ModelBuilder::value_info(const std::string& name, DType dtype,
                                       const std::vector<Dim>& shape) {
  declare_type(name, dtype, shape, *graph().add_value_info());
  return *this;
}

std::string ModelBuilder::bytes() const { return model_->SerializeAsString(); }

void fill_proto(const Tensor& tensor, onnx::TensorProto& proto) {
  proto.set_data_type(onnx_number_of(tensor.dtype()));
  for (const std::int64_t size : tensor.shape()) proto.add_dims(size);
  proto.set_raw_data(raw_data_of(tensor));
}

std::optional<Graph> import_graph(const ModelBuilder& model, Sink& sink,
                                  const ImportOptions& options) {
  return import_model(model.bytes(), options, sink);
}

std::optional<Graph> load(const ModelBuilder& model, Sink& sink, const ImportOptions& options) {
  std::optional<Graph> graph = import_graph(model, sink, options);
  if (graph) resolve(*graph, sink);
  if (sink.has_errors()) return std::nullopt;
  return graph;
}

std::string errors_of(const Sink& sink) {
  return lines_of(sink, [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string reports_of(const Sink& sink) {
  return lines_of(sink, [](const Diagnostic&) { return true; });
}

bool has_error(const Sink& sink, DiagKind kind) { return has_report(sink, Severity::kError, kind); }

bool has_report(const Sink& sink, Severity severity, DiagKind kind) {
  const auto all = sink.sorted();
  return std::any_of(all.begin(), all.end(), [&](const Diagnostic& diagnostic) {
    return diagnostic.severity == severity && diagnostic.kind == kind;
  });
}

}  // namespace etch
