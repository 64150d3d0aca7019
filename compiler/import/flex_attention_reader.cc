// FlexAttention of ai.onnx.preview -> nodes of the list around it: the scores, the body of
// score_mod, the softmax, the body of prob_mod, the product with the values. The three that are not
// bodies are FlexAttention with the attribute 'stage', which no file can have; see
// compiler/passes/functions/flex_attention.cc.
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/import/checked_name.h"
#include "compiler/import/node_reader.h"

namespace etch {

namespace {

constexpr const char* kStage = "stage";

Node stage_of(const Node& origin, std::int64_t stage, std::vector<ValueId> inputs, ValueId output) {
  Node node;
  node.index = origin.index;
  node.name = origin.name;
  node.domain = origin.domain;
  node.op_type = origin.op_type;
  node.attributes[kStage] = stage;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return node;
}

std::string ports_text(const onnx::GraphProto& graph) {
  return cat(graph.input_size(), " and ", graph.output_size());
}

}  // namespace

bool NodeReader::read_modifier(const onnx::NodeProto& proto, const char* name, const Node& node,
                               Scope& scope, ValueId& id, std::vector<Node>& out) {
  const onnx::GraphProto* const graph = subgraph_of(proto, node, name);
  if (graph == nullptr) return true;
  if (graph->input_size() != 1 || graph->output_size() != 1) {
    fail(
        DiagKind::kGraph, node,
        cat("attribute '", name, "' must have one input and one output, has ", ports_text(*graph)));
    return true;
  }
  if (!refuse_shadows(*graph, node, scope)) return true;
  if (!may_enter(nullptr, node)) return false;
  Scope body = scope_of(*graph, node, scope);
  const std::string& input = graph->input(0).name();
  if (input.empty() || !body.ids.try_emplace(input, id).second) {
    fail(DiagKind::kGraph, node,
         cat("input '", printable(input), "' of its '", name, "' has no name, or that of another"));
    return true;
  }
  entered_.push_back(nullptr);
  if (!read(graph->node(), body, out)) return false;
  entered_.pop_back();
  const ValueId result = result_of(graph->output(0).name(), node, body);
  if (result != kNoValue) id = result;
  return true;
}

bool NodeReader::read_flex_attention(const onnx::NodeProto& proto, Node& node, Scope& scope,
                                     std::vector<Node>& out) {
  const auto refuse = [&](DiagKind kind, std::string what) {
    fail(kind, node, std::move(what));
    return true;
  };
  if (node.inputs.size() != 3 || node.outputs.size() != 1)
    return refuse(DiagKind::kGraph, cat("must have 3 inputs and 1 output, has ", node.inputs.size(),
                                        " and ", node.outputs.size()));
  if (node.attributes.contains(kStage))
    return refuse(DiagKind::kAttr, "attribute 'stage': is not an attribute of this operator");
  const ValueId query = node.inputs[0], key = node.inputs[1], value = node.inputs[2];
  const auto make_value = [&] { return graph_.add_value({"", {}, {}, nullptr}); };
  const ValueId scores = make_value(), shares = make_value();
  Node first = stage_of(node, 0, {query, key}, scores);
  first.attributes.merge(node.attributes);
  out.push_back(std::move(first));
  ValueId changed = scores;
  if (!read_modifier(proto, "score_mod", node, scope, changed, out)) return false;
  out.push_back(stage_of(node, 1, {changed, scores}, shares));
  changed = shares;
  if (!read_modifier(proto, "prob_mod", node, scope, changed, out)) return false;
  out.push_back(stage_of(node, 2, {changed, shares, value, key}, node.outputs[0]));
  return true;
}

}  // namespace etch
