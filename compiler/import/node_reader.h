// NodeProto -> Node, in the order in which they can run. A call of a function of the model becomes
// the nodes of its body, whose names begin with that of the call ("block_1/erf"). The branches of
// an If become lists of nodes that give its outputs; resolve takes one. Bodies of Loop and Scan
// (loop_reader.cc) and modifiers of FlexAttention become nodes of the list around them. Internal to
// import/.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/import/external_data.h"
#include "compiler/import/function_table.h"
#include "compiler/import/node_order.h"
#include "compiler/import/scope.h"

namespace etch {

struct LoopParts;  // loop_reader.cc

// Everything of the file that its nodes may need. What it refers to must outlive the reader.
class NodeReader {
 public:
  // `opsets`: that the model imports. `bytes_left`: of what calls of functions may repeat.
  NodeReader(Graph& graph, const FunctionTable& functions,
             const std::map<std::string, std::int64_t>& opsets, std::int64_t bytes_left,
             const Limits& limits, ExternalData& external, Sink& sink)
      : graph_(graph),
        functions_(functions),
        opsets_(opsets),
        bytes_left_(bytes_left),
        limits_(limits),
        external_(external),
        sink_(sink) {}

  // Appends to `out` what `protos` compute. False after E-LIMIT, with which there is no use in
  // going on; other faults are reported, and reading goes on.
  [[nodiscard]] bool read(const NodeProtos& protos, Scope& scope, std::vector<Node>& out);

  // A value in a function's body by its name there, "call/inner".
  std::optional<ValueId> find_inner(const std::string& name) const;

 private:
  // Says once that nodes of the file are sorted, if they are not in `order`.
  void note_order(const std::vector<int>& order);
  [[nodiscard]] bool read_node(const onnx::NodeProto& proto, int position, Scope& scope,
                               std::vector<Node>& out);
  [[nodiscard]] bool read_call(const ModelFunction& function, const onnx::NodeProto& proto,
                               int position, Node& call, Scope& scope, std::vector<Node>& out);
  // Why it cannot be read; empty: it can.
  std::string fault_of_call(const ModelFunction& function, const onnx::NodeProto& proto) const;
  [[nodiscard]] bool read_branches(const onnx::NodeProto& proto, Node& node, Scope& scope);
  [[nodiscard]] bool read_branch(const onnx::GraphProto& proto, Node& node, Scope& around,
                                 std::vector<Node>& out);
  // Null where there is none.
  static const onnx::GraphProto* subgraph_of(const onnx::NodeProto& proto, const Node& node,
                                             std::string_view name);
  [[nodiscard]] bool read_loop(const onnx::NodeProto& proto, Node& node, Scope& scope,
                               std::vector<Node>& out);
  bool find_parts(const onnx::NodeProto& proto, Node& node, LoopParts& parts);
  bool take_batch(Node& node);
  void add_batch(const Node& node, const LoopParts& parts, std::vector<Node> body,
                 std::vector<Node>& out);
  // Modifiers of FlexAttention (flex_attention_reader.cc): `id` becomes what that of this name
  // makes of it.
  [[nodiscard]] bool read_flex_attention(const onnx::NodeProto& proto, Node& node, Scope& scope,
                                         std::vector<Node>& out);
  [[nodiscard]] bool read_modifier(const onnx::NodeProto& proto, const char* name, const Node& node,
                                   Scope& scope, ValueId& id, std::vector<Node>& out);
  bool refuse_shadows(const onnx::GraphProto& body, const Node& node, const Scope& around);
  bool name_inputs(const Node& node, const LoopParts& parts, Scope& body,
                   std::vector<ValueId>& out);
  std::vector<Node> slices_of(const Node& node, const LoopParts& parts, ValueId trip);
  void add_loop(const Node& node, const LoopParts& parts, std::vector<Node> body,
                std::vector<Node>& out);
  // That of a subgraph of `node`, with its constants.
  Scope scope_of(const onnx::GraphProto& proto, const Node& node, Scope& around);
  void add_constants(const onnx::GraphProto& proto, const Node& node, Scope& branch);
  // What the body of `node` calls `name`; kNoValue after a report.
  ValueId result_of(const std::string& name, const Node& node, Scope& body);
  AttributeBindings bind_attributes(const ModelFunction& function, const onnx::NodeProto& proto,
                                    const Node& call, const Scope& scope);
  void name_parts(std::vector<ValueId>& outputs);
  void check_opset(const Node& node, const Scope& scope);

  ValueId use(const std::string& name, const Node& node, Scope& scope);
  std::vector<ValueId> make_outputs(const onnx::NodeProto& proto, const Node& node, Scope& scope);
  ValueId make(const std::string& name, const Node& node, Scope& scope);
  void show_outputs(const onnx::NodeProto& proto, Node& node, Scope& scope);
  // Gives the k-th output of `node`, which stands for what `inner` has, the value of names[k]
  // there.
  void deliver(const std::vector<std::string>& names, const Node& node, Scope& inner,
               std::vector<Node>& out);

  [[nodiscard]] bool spend_nodes(int count);
  [[nodiscard]] bool spend_bytes(std::int64_t bytes, const Node& node);
  [[nodiscard]] bool may_enter(const ModelFunction* function, const Node& node);
  std::string prefix_of(const onnx::NodeProto& proto, int position, const Scope& scope);
  void fail(DiagKind kind, const Node& node, std::string what);

  Graph& graph_;
  const FunctionTable& functions_;
  const std::map<std::string, std::int64_t>& opsets_;
  std::int64_t bytes_left_;
  const Limits& limits_;
  ExternalData& external_;
  Sink& sink_;
  std::int64_t nodes_ = 0;
  bool is_order_noted_ = false;
  std::vector<const ModelFunction*> entered_;  // bodies being read; null: a branch
  std::unordered_set<std::string> prefixes_;
  std::unordered_map<std::string, ValueId> inner_values_;
};

}  // namespace etch
