// GraphProto -> Graph: names become value ids, and the wiring is checked on the way. Internal to
// import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "compiler/import/declaration.h"
#include "compiler/import/external_data.h"
#include "compiler/import/import.h"

namespace etch {

// One use: construct, build(). The GraphProto must outlive the builder.
class GraphBuilder {
 public:
  GraphBuilder(const onnx::GraphProto& proto, const ImportOptions& options, ExternalData& external,
               Sink& sink)
      : proto_(proto),
        options_(options),
        external_(external),
        sink_(sink),
        input_shapes_(options, sink) {}

  // The graph without operator sets. Reports everything that import_model() lists except E-PARSE
  // and E-VERSION; the result is meaningless when errors were reported.
  Graph build();

 private:
  void find_used_names();
  void add_initializers();
  bool is_unused_and_foreign(const onnx::TensorProto& proto) const;
  void refuse_sparse_initializers();
  void add_inputs();
  void add_input(const onnx::ValueInfoProto& input);
  [[nodiscard]] bool add_nodes();  // false: there are too many
  void add_node(const onnx::NodeProto& proto, int position);  // in the file
  void add_outputs();
  void add_cuts();
  void add_declarations();

  ValueId use(const std::string& name, const Node& node);
  ValueId define(const std::string& name, const Node& node);
  std::optional<ValueId> find(const std::string& name) const;
  bool check_is_tensor(const onnx::ValueInfoProto& info, const std::string& location);
  bool check_name(const std::string& name, const std::string& location);

  const onnx::GraphProto& proto_;
  const ImportOptions& options_;
  ExternalData& external_;
  Sink& sink_;
  InputShapes input_shapes_;
  Graph graph_;
  std::unordered_map<std::string_view, ValueId> ids_;         // names defined so far
  std::unordered_set<std::string_view> names_made_by_nodes_;  // anywhere in the file
  std::unordered_set<std::string_view> used_names_;           // that anything may read
};

}  // namespace etch
