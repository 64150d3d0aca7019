// GraphProto -> Graph: names become value ids, and the wiring is checked on the way. Internal to
// import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "compiler/import/declaration.h"
#include "compiler/import/external_data.h"
#include "compiler/import/function_table.h"
#include "compiler/import/import.h"
#include "compiler/import/node_reader.h"
#include "compiler/import/scope.h"

namespace etch {

// One use: construct, build(). The GraphProto must outlive the builder.
class GraphBuilder {
 public:
  // `opsets` and `functions` are the model's; calls of functions may repeat as many bytes as
  // constants may be computed. Initializers of states go to states.initial.
  GraphBuilder(const onnx::GraphProto& proto, const FunctionTable& functions,
               const std::map<std::string, std::int64_t>& opsets, std::int64_t bytes_to_repeat,
               const ImportOptions& options, ExternalData& external, Sink& sink,
               StateInputs& states)
      : proto_(proto),
        options_(options),
        external_(external),
        sink_(sink),
        state_inputs_(states),
        input_shapes_(options, sink),
        nodes_(graph_, functions, opsets, bytes_to_repeat, options.limits, external, sink) {}

  // The graph without operator sets. Reports everything that import_model() lists except E-PARSE
  // and E-VERSION; the result is meaningless when errors were reported.
  Graph build();

 private:
  void find_used_names();
  void add_initializers();
  void find_states();
  bool is_unused_and_foreign(const onnx::TensorProto& proto) const;
  void refuse_sparse_initializers();
  void add_inputs();
  void add_input(const onnx::ValueInfoProto& input);
  void add_state(const onnx::ValueInfoProto& input, const std::string& location);
  void add_known_input(const onnx::ValueInfoProto& input, const Tensor& tensor,
                       const std::string& location);
  void report_unused_constants(const std::unordered_set<std::string_view>& inputs);
  void add_outputs();
  std::optional<ValueId> find_cut(const std::string& name);
  std::string other_cut(const std::string& name) const;
  void add_cuts();
  void add_declarations();

  bool check_is_tensor(const onnx::ValueInfoProto& info, const std::string& location);
  bool check_name(const std::string& name, const std::string& location);

  const onnx::GraphProto& proto_;
  const ImportOptions& options_;
  ExternalData& external_;
  Sink& sink_;
  StateInputs& state_inputs_;
  InputShapes input_shapes_;
  Graph graph_;
  NodeReader nodes_;
  Scope scope_;
  int input_files_ = 0;                              // inputs so far, in test data's count
  std::unordered_set<std::string_view> states_;      // that have an initializer
  std::unordered_set<std::string_view> used_names_;  // that anything may read
};

}  // namespace etch
