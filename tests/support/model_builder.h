// Builds small ONNX models for tests, in the words of the ONNX file:
//
//   ModelBuilder model;
//   model.input("x", DType::kF32, {1, 2, 5, 5});
//   model.initializer("w", Tensor::of<float>({3, 2, 1, 1}, weights));
//   model.node("Conv", {"x", "w"}, {"y"}, {{"strides", Ints{2, 2}}, {"group", 1}});
//   model.output("y");
//   Sink sink;
//   std::optional<Graph> graph = load(model, sink);
//
// Whatever it has no words for can be done to proto(), by files that include <onnx/onnx_pb.h>: the
// classes of protobuf take long to compile, and most tests need none of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/import/import.h"
#include "compiler/ir/graph.h"

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace etch {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

// One size of a declared shape: a number or a symbol.
using Dim = std::variant<std::int64_t, std::string>;

class ModelBuilder {
 public:
  // IR 8 and ai.onnx at `opset`.
  explicit ModelBuilder(std::int64_t opset = 13);
  ModelBuilder(const ModelBuilder& other);
  ModelBuilder(ModelBuilder&& other) noexcept;
  ModelBuilder& operator=(const ModelBuilder& other);
  ModelBuilder& operator=(ModelBuilder&& other) noexcept;
  ~ModelBuilder();

  ModelBuilder& opset(const std::string& domain, std::int64_t version);
  ModelBuilder& input(const std::string& name, DType dtype, const std::vector<Dim>& shape);
  ModelBuilder& initializer(const std::string& name, const Tensor& tensor);  // as raw data
  // "" stands for an omitted input or output.
  ModelBuilder& node(const std::string& op_type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     const std::map<std::string, Attribute>& attributes = {},
                     const std::string& domain = "");
  ModelBuilder& node_name(const std::string& name);  // of the last node
  // The graph of `body` as an attribute of the last node.
  ModelBuilder& subgraph(const std::string& attribute, const ModelBuilder& body);
  ModelBuilder& output(const std::string& name);  // without a declared type
  ModelBuilder& output(const std::string& name, DType dtype, const std::vector<Dim>& shape);
  ModelBuilder& value_info(const std::string& name, DType dtype, const std::vector<Dim>& shape);

  onnx::ModelProto& proto() { return *model_; }
  onnx::GraphProto& graph();
  onnx::NodeProto& last_node();
  std::string bytes() const;

 private:
  std::unique_ptr<onnx::ModelProto> model_;
};

// Fills `proto` with `tensor` as raw data; 4-bit types are packed.
void fill_proto(const Tensor& tensor, onnx::TensorProto& proto);

// Imports, and imports and resolves. Null when an error was reported.
std::optional<Graph> import_graph(const ModelBuilder& model, Sink& sink,
                                  const ImportOptions& options = {});
std::optional<Graph> load(const ModelBuilder& model, Sink& sink, const ImportOptions& options = {});

// The reported errors, one line each, without a file name: for EXPECT_EQ and failure messages.
std::string errors_of(const Sink& sink);
// The same for everything reported.
std::string reports_of(const Sink& sink);
// Whether an error (or, for the second, anything) of this kind was reported.
bool has_error(const Sink& sink, DiagKind kind);
bool has_report(const Sink& sink, Severity severity, DiagKind kind);

}  // namespace etch
