// See node_reader.h. Values of a body or branch that are its results are those of the node that it
// stands for from the start, so that nothing has to be renamed afterwards.
#include "compiler/import/node_reader.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/import/checked_name.h"
#include "compiler/import/tensor_data.h"
#include "compiler/ops/identity/node.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"

namespace etch {

namespace {

void trim_omitted(std::vector<ValueId>& ids) {
  while (!ids.empty() && ids.back() == kNoValue) ids.pop_back();
}

std::string domain_text(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : printable(domain);
}

}  // namespace

const onnx::GraphProto* NodeReader::subgraph_of(const onnx::NodeProto& proto, const Node& node,
                                                std::string_view name) {
  for (const auto& attribute : proto.attribute()) {
    if (is_subgraph(node, attribute) && attribute.name() == name) return &attribute.g();
  }
  return nullptr;
}

void NodeReader::fail(DiagKind kind, const Node& node, std::string what) {
  sink_.report({Severity::kError, kind, node.index, location_of(node), std::move(what)});
}

bool NodeReader::read(const NodeProtos& protos, Scope& scope, std::vector<Node>& out) {
  if (!spend_nodes(protos.size())) return false;
  for (const auto& node : protos) {
    for (const std::string& output : node.output()) scope.made_by_nodes.insert(output);
  }
  const std::vector<int> order = topological_order(protos);
  note_order(order);
  return std::all_of(order.begin(), order.end(),
                     [&](int at) { return read_node(protos.Get(at), at, scope, out); });
}

void NodeReader::note_order(const std::vector<int>& order) {
  if (is_order_noted_ || std::is_sorted(order.begin(), order.end())) return;
  is_order_noted_ = true;
  int late = 0;
  while (order[static_cast<std::size_t>(late)] == late) ++late;
  sink_.note(DiagKind::kGraph, "",
             cat("nodes ", entered_.empty() ? "" : "of a function or an inner graph ",
                 "are not in the order in which they run, and are sorted: node #", late,
                 " comes after node #", order[static_cast<std::size_t>(late)]));
}

bool NodeReader::read_node(const onnx::NodeProto& proto, int position, Scope& scope,
                           std::vector<Node>& out) {
  Node node;
  node.index = scope.index < 0 ? position : scope.index;
  node.domain = normal_domain(proto.domain());
  node.op_type = proto.op_type();
  node.name = proto.name();
  if (!scope.prefix.empty() && node.name.empty()) node.name = cat(node.op_type, "#", position);
  node.name = scope.prefix + node.name;
  const std::string location = location_of(node);
  check_name(proto.name(), location, limits_, sink_);
  check_name(node.domain, location, limits_, sink_);
  check_name(node.op_type, location, limits_, sink_);
  if (const ModelFunction* const function = functions_.find(proto))
    return read_call(*function, proto, position, node, scope, out);
  node.op = find_op(node.domain, node.op_type);
  if (is_region_begin(node) || is_region_end(node)) node.op = nullptr;  // not for files to write
  check_opset(node, scope);
  read_attributes(proto, scope.bindings, limits_, external_, node, sink_);
  for (const std::string& name : proto.input()) node.inputs.push_back(use(name, node, scope));
  node.outputs = make_outputs(proto, node, scope);
  if (node.op_type == "If" && node.domain.empty() && !read_branches(proto, node, scope))
    return false;
  const bool is_loop = node.domain.empty() && (node.op_type == "Loop" || node.op_type == "Scan");
  if (is_loop && !read_loop(proto, node, scope, out)) return false;
  const bool is_flex = is_flex_attention(node);
  if (is_flex && !read_flex_attention(proto, node, scope, out)) return false;
  show_outputs(proto, node, scope);
  if (is_loop || is_flex) return true;
  if (node.op_type == "Split" && node.domain.empty()) name_parts(node.outputs);
  trim_omitted(node.inputs);
  trim_omitted(node.outputs);
  out.push_back(std::move(node));
  return true;
}

// How many outputs Split has decides their sizes, also where nothing reads the last ones.
void NodeReader::name_parts(std::vector<ValueId>& outputs) {
  for (ValueId& id : outputs) {
    if (id == kNoValue) id = graph_.add_value({});
  }
}

// Operators mean what the model's operator sets say: a function that was written for others would
// have to be translated.
void NodeReader::check_opset(const Node& node, const Scope& scope) {
  if (scope.function == nullptr) return;
  const auto wanted = scope.function->opsets.find(node.domain);
  const auto given = opsets_.find(node.domain);
  if (wanted == scope.function->opsets.end() || given == opsets_.end()) return;
  if (wanted->second == given->second) return;
  fail(
      DiagKind::kVersion, node,
      cat("is in function '", printable(scope.function->proto->name()), "', which imports version ",
          wanted->second, " of ", domain_text(node.domain), "; the model imports ", given->second));
}

std::string NodeReader::fault_of_call(const ModelFunction& function,
                                      const onnx::NodeProto& proto) const {
  const onnx::FunctionProto& called = *function.proto;
  if (std::count(entered_.begin(), entered_.end(), &function) != 0)
    return cat("function '", printable(called.name()), "' calls itself");
  if (proto.input_size() <= called.input_size() && proto.output_size() <= called.output_size())
    return "";
  return cat("the function has ", called.input_size(), " inputs and ", called.output_size(),
             " outputs, the node ", proto.input_size(), " and ", proto.output_size());
}

bool NodeReader::read_call(const ModelFunction& function, const onnx::NodeProto& proto,
                           int position, Node& call, Scope& scope, std::vector<Node>& out) {
  const onnx::FunctionProto& called = *function.proto;
  call.outputs = make_outputs(proto, call, scope);
  const std::string fault = fault_of_call(function, proto);
  if (!fault.empty()) {
    fail(DiagKind::kGraph, call, fault);
    show_outputs(proto, call, scope);  // so that those who read them are not reported as well
    return true;
  }
  Scope body;
  body.prefix = prefix_of(proto, position, scope);
  const auto names = static_cast<std::int64_t>(body.prefix.size()) * function.names;
  if (!may_enter(&function, call) || !spend_bytes(function.bytes + names, call)) return false;
  const AttributeBindings bindings = bind_attributes(function, proto, call, scope);
  body.function = &function;
  body.bindings = &bindings;
  body.index = call.index;
  for (int i = 0; i < called.input_size(); ++i) {
    const ValueId id = i < proto.input_size() ? use(proto.input(i), call, scope) : kNoValue;
    body.ids.try_emplace(called.input(i), id);
  }
  const std::vector<std::string> results(called.output().begin(),
                                         called.output().begin() + proto.output_size());
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (call.outputs[k] != kNoValue)
      body.results.try_emplace(called.output(static_cast<int>(k)), call.outputs[k]);
  }
  entered_.push_back(&function);
  if (!read(called.node(), body, out)) return false;
  entered_.pop_back();
  deliver(results, call, body, out);
  show_outputs(proto, call, scope);
  return true;
}

AttributeBindings NodeReader::bind_attributes(const ModelFunction& function,
                                              const onnx::NodeProto& proto, const Node& call,
                                              const Scope& scope) {
  AttributeBindings out;
  for (const std::string& name : function.proto->attribute()) out.emplace(name, nullptr);
  for (const auto& attribute : function.defaults) out[attribute.name()] = &attribute;
  std::unordered_set<std::string_view> seen;
  for (const auto& attribute : proto.attribute()) {
    const auto declared = out.find(attribute.name());
    if (declared == out.end()) {
      fail(DiagKind::kAttr, call,
           cat("the function has no attribute '", printable(attribute.name()), "'"));
    } else if (!seen.insert(attribute.name()).second) {
      fail(DiagKind::kAttr, call,
           cat("attribute '", printable(attribute.name()), "' is given twice"));
    } else if (const auto* source = referred(attribute, scope.bindings, call, sink_)) {
      declared->second = source;
    }
  }
  return out;
}

bool NodeReader::read_branches(const onnx::NodeProto& proto, Node& node, Scope& scope) {
  if (proto.input_size() != 1) {
    fail(DiagKind::kGraph, node, cat("must have 1 input, has ", proto.input_size()));
    return true;
  }
  if (proto.input(0).empty()) {
    fail(DiagKind::kGraph, node, "input 0 (cond) is required, but omitted");
    return true;
  }
  Scope branch;
  branch.outer = &scope;
  for (const char* const name : {"then_branch", "else_branch"}) {
    const onnx::GraphProto* const graph = subgraph_of(proto, node, name);
    if (graph == nullptr) {
      fail(DiagKind::kAttr, node, cat("attribute '", name, "' is missing"));
      return true;
    }
    if (!may_enter(nullptr, node)) return false;
    entered_.push_back(nullptr);
    std::vector<Node> nodes;
    if (!read_branch(*graph, node, branch, nodes)) return false;
    entered_.pop_back();
    node.branches.push_back(std::move(nodes));
  }
  // What branches read of what is around them is an input, so that it is there when one is taken.
  std::sort(branch.captured.begin(), branch.captured.end());
  const auto end = std::unique(branch.captured.begin(), branch.captured.end());
  node.inputs.insert(node.inputs.end(), branch.captured.begin(), end);
  return true;
}

Scope NodeReader::scope_of(const onnx::GraphProto& proto, const Node& node, Scope& around) {
  Scope out;
  out.outer = &around;
  out.function = around.function;
  out.bindings = around.bindings;
  out.index = node.index;
  out.prefix = around.prefix;
  add_constants(proto, node, out);
  return out;
}

ValueId NodeReader::result_of(const std::string& name, const Node& node, Scope& body) {
  const auto id = body.find(name);
  if (id && *id != kNoValue) return *id;
  fail(DiagKind::kGraph, node,
       cat("its result '", printable(name), "' is no input, initializer or output of a node"));
  return kNoValue;
}

// `around` is what both branches see, and collects what they read.
bool NodeReader::read_branch(const onnx::GraphProto& proto, Node& node, Scope& around,
                             std::vector<Node>& out) {
  if (proto.input_size() > 0) fail(DiagKind::kGraph, node, "a branch must have no inputs");
  if (proto.output_size() != static_cast<int>(node.outputs.size())) {
    fail(DiagKind::kGraph, node,
         cat("has ", node.outputs.size(), " outputs, a branch has ", proto.output_size()));
    return true;
  }
  Scope branch = scope_of(proto, node, *around.outer);
  std::vector<std::string> results;
  for (int k = 0; k < proto.output_size(); ++k) {
    const ValueId id = node.outputs[static_cast<std::size_t>(k)];
    results.push_back(proto.output(k).name());
    if (id != kNoValue) branch.results.try_emplace(proto.output(k).name(), id);
  }
  if (!read(proto.node(), branch, out)) return false;
  deliver(results, node, branch, out);
  around.captured.insert(around.captured.end(), branch.captured.begin(), branch.captured.end());
  return true;
}

void NodeReader::add_constants(const onnx::GraphProto& proto, const Node& node, Scope& branch) {
  if (proto.sparse_initializer_size() > 0)
    fail(DiagKind::kUnsupported, node, "sparse tensors cannot be compiled");
  for (const onnx::TensorProto& tensor : proto.initializer()) {
    const std::string location =
        cat(location_of(node), " initializer '", printable(tensor.name()), "'");
    if (!check_name(tensor.name(), location, limits_, sink_)) continue;
    auto decoded = decode_tensor(tensor, limits_, location, sink_, &external_);
    const ValueId id = decoded ? graph_.add_constant(std::move(*decoded), tensor.name())
                               : graph_.add_value({tensor.name(), {}, {}, nullptr});
    if (!branch.ids.try_emplace(tensor.name(), id).second)
      sink_.error(DiagKind::kGraph, location, "is given twice");
  }
}

ValueId NodeReader::use(const std::string& name, const Node& node, Scope& scope) {
  if (name.empty()) return kNoValue;
  if (const auto id = scope.find(name)) return *id;
  const char* why = scope.is_made_by_a_node(name)
                        ? "' depends on what this node makes: a cycle"
                        : "' is no input, initializer or output of a node";
  fail(DiagKind::kGraph, node, cat("input '", printable(name), why));
  return kNoValue;
}

// The outputs' values; no node sees them by name before show_outputs().
std::vector<ValueId> NodeReader::make_outputs(const onnx::NodeProto& proto, const Node& node,
                                              Scope& scope) {
  std::vector<ValueId> out;
  for (const std::string& name : proto.output()) out.push_back(make(name, node, scope));
  return out;
}

ValueId NodeReader::make(const std::string& name, const Node& node, Scope& scope) {
  if (name.empty() || !check_name(name, location_of(node), limits_, sink_)) return kNoValue;
  const auto result = scope.results.find(name);
  if (result != scope.results.end()) return result->second;
  std::string full = scope.prefix + name;
  const ValueId id = graph_.add_value({full, {}, {}, nullptr});
  if (!scope.prefix.empty()) inner_values_.try_emplace(std::move(full), id);
  return id;
}

void NodeReader::show_outputs(const onnx::NodeProto& proto, Node& node, Scope& scope) {
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k] == kNoValue) continue;
    const std::string& name = proto.output(static_cast<int>(k));
    if (scope.ids.try_emplace(name, node.outputs[k]).second) continue;
    fail(DiagKind::kGraph, node, cat("output '", printable(name), "' is defined already"));
    node.outputs[k] = kNoValue;
  }
}

void NodeReader::deliver(const std::vector<std::string>& names, const Node& node, Scope& inner,
                         std::vector<Node>& out) {
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (node.outputs[k] == kNoValue) continue;
    const auto source = inner.find(names[k]);
    if (source == node.outputs[k]) continue;
    if (!source || *source == kNoValue) {
      fail(DiagKind::kGraph, node,
           cat("its result '", printable(names[k]), "' is no input, initializer or output of a ",
               "node"));
      continue;
    }
    out.push_back(identity_node(node, *source, node.outputs[k]));
  }
}

bool NodeReader::spend_nodes(int count) {
  const bool is_whole = nodes_ == 0;
  nodes_ += count;
  if (nodes_ <= limits_.nodes) return true;
  const std::string seen = is_whole ? cat(count, " nodes, ")
                                    : cat("more than ", limits_.nodes,
                                          " nodes with functions and branches written out, ");
  sink_.error(DiagKind::kLimit, "", cat("has ", seen, at_most(limits_, &Limits::nodes)));
  return false;
}

bool NodeReader::spend_bytes(std::int64_t bytes, const Node& node) {
  bytes_left_ -= bytes;
  if (bytes_left_ >= 0) return true;
  fail(DiagKind::kLimit, node,
       cat("calls of functions repeat too many bytes of the file, ",
           at_most(limits_, &Limits::computed_bytes)));
  return false;
}

bool NodeReader::may_enter(const ModelFunction* function, const Node& node) {
  if (std::cmp_less(entered_.size(), limits_.depth)) return true;
  fail(DiagKind::kLimit, node,
       cat(function == nullptr ? "branches" : "functions", " are nested too deeply, ",
           at_most(limits_, &Limits::depth)));
  return false;
}

// "call/", unlike that of any other call.
std::string NodeReader::prefix_of(const onnx::NodeProto& proto, int position, const Scope& scope) {
  const std::string& own = proto.name();
  std::string name = scope.prefix + (own.empty() ? cat(proto.op_type(), "#", position) : own);
  if (!prefixes_.insert(name).second) {
    name += cat("#", position);
    for (const std::string stem = name; !prefixes_.insert(name).second;)
      name = cat(stem, "_", prefixes_.size());
  }
  return name + "/";
}

std::optional<ValueId> NodeReader::find_inner(const std::string& name) const {
  const auto found = inner_values_.find(name);
  if (found == inner_values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace etch
