// See graph_builder.h. Everything is a single walk over the file with hashed names: files with
// many thousand names must not cost quadratic time.
#include "compiler/import/graph_builder.h"

#include <utility>

#include "compiler/base/closest.h"
#include "compiler/base/text.h"
#include "compiler/import/checked_name.h"
#include "compiler/import/known_input.h"
#include "compiler/import/node_order.h"
#include "compiler/import/tensor_data.h"

namespace etch {

namespace {

std::string quoted(const char* role, const std::string& name) {
  return cat(role, " '", printable(name), "'");
}

Value named(const std::string& name, Declaration declaration = {}) {
  return {name, declaration.dtype, std::move(declaration.shape), nullptr};
}

}  // namespace

Graph GraphBuilder::build() {
  graph_.name = proto_.name();
  find_used_names();
  find_states();
  add_initializers();
  refuse_sparse_initializers();
  add_inputs();
  if (!nodes_.read(proto_.node(), scope_, graph_.nodes)) return std::move(graph_);
  if (options_.cuts.empty()) {
    add_outputs();
  } else {
    add_cuts();
  }
  // With broken wiring these would contradict each other as a consequence.
  if (!sink_.has_errors()) add_declarations();
  return std::move(graph_);
}

void GraphBuilder::find_used_names() {
  for (const auto& node : proto_.node()) {
    for (const std::string_view name : names_read_by(node)) used_names_.insert(name);
  }
  for (const auto& output : proto_.output()) used_names_.insert(output.name());
  for (const auto& input : proto_.input()) used_names_.insert(input.name());  // its default
  for (const std::string& name : options_.cuts) used_names_.insert(name);
}

void GraphBuilder::find_states() {
  if (state_inputs_.names.empty()) return;
  std::unordered_set<std::string_view> initializers;
  for (const auto& proto : proto_.initializer()) initializers.insert(proto.name());
  for (const auto& input : proto_.input()) {
    const std::string& name = input.name();
    if (state_inputs_.names.contains(name) && initializers.contains(name)) states_.insert(name);
  }
}

void GraphBuilder::add_initializers() {
  for (const onnx::TensorProto& proto : proto_.initializer()) {
    const std::string location = quoted("initializer", proto.name());
    if (!check_name(proto.name(), location)) continue;
    if (proto.name().empty()) {
      sink_.error(DiagKind::kName, location, "has no name");
      continue;
    }
    if (scope_.find(proto.name()) || state_inputs_.initial.contains(proto.name())) {
      sink_.error(DiagKind::kGraph, location, "is given twice");
      continue;
    }
    if (is_unused_and_foreign(proto)) {
      sink_.note(DiagKind::kType, location, "is not used, and ignored for its element type");
      continue;
    }
    auto tensor = decode_tensor(proto, options_.limits, location, sink_, &external_);
    if (states_.contains(proto.name())) {
      if (tensor) state_inputs_.initial.emplace(proto.name(), std::move(*tensor));
      continue;
    }
    // A refused tensor keeps its name, so that its users are not reported as well.
    scope_.ids[proto.name()] = tensor ? graph_.add_constant(std::move(*tensor), proto.name())
                                      : graph_.add_value(named(proto.name()));
  }
}

// Files may carry tensors of any type of ONNX, such as strings, that nothing reads.
bool GraphBuilder::is_unused_and_foreign(const onnx::TensorProto& proto) const {
  const bool foreign = onnx::TensorProto::DataType_IsValid(proto.data_type()) &&
                       proto.data_type() != onnx::TensorProto::UNDEFINED &&
                       !dtype_from_onnx(proto.data_type());
  return foreign && used_names_.count(proto.name()) == 0;
}

void GraphBuilder::refuse_sparse_initializers() {
  for (const onnx::SparseTensorProto& proto : proto_.sparse_initializer()) {
    const std::string& name = proto.values().name();
    sink_.error(DiagKind::kUnsupported, quoted("sparse initializer", name),
                "sparse tensors cannot be compiled");
    if (!name.empty() && !scope_.find(name)) scope_.ids[name] = graph_.add_value(named(name));
  }
}

void GraphBuilder::add_inputs() {
  std::unordered_set<std::string_view> seen;
  for (const auto& input : proto_.input()) {
    if (!scope_.find(input.name()) && !states_.contains(input.name())) input_shapes_.scan(input);
  }
  for (const auto& input : proto_.input()) {
    const std::string location = quoted("input", input.name());
    if (!check_name(input.name(), location)) continue;
    if (input.name().empty()) {
      sink_.error(DiagKind::kGraph, location, "has no name");
    } else if (!seen.insert(input.name()).second) {
      sink_.error(DiagKind::kGraph, location, "is given twice");
    } else if (const auto initializer = scope_.find(input.name())) {
      declare(read_declaration(input), location, graph_.value(*initializer), sink_);
      if (options_.constants.contains(input.name()))
        sink_.error(DiagKind::kName, location,
                    "has a value in the file: --constant cannot give it");
    } else if (const auto constant = options_.constants.find(input.name());
               constant != options_.constants.end()) {
      add_known_input(input, constant->second, location);
    } else if (states_.contains(input.name())) {
      add_state(input, location);
    } else {
      add_input(input);
    }
  }
  for (int& file : graph_.input_files) {
    if (file < 0) file = input_files_++;
  }
  input_shapes_.report_unused_options();
  report_unused_constants(seen);
}

// An input with the type and the shape of its initializer. Test data has it after those without an
// initializer, whose numbers are the same whether it is a state or a constant.
void GraphBuilder::add_state(const onnx::ValueInfoProto& input, const std::string& location) {
  const ValueId id = graph_.add_value(named(input.name()));
  scope_.ids[input.name()] = id;
  const auto initial = state_inputs_.initial.find(input.name());
  if (initial != state_inputs_.initial.end()) {  // else it was refused
    graph_.value(id).dtype = initial->second.dtype();
    graph_.value(id).shape = initial->second.shape();
  }
  declare(read_declaration(input), location, graph_.value(id), sink_);
  graph_.inputs.push_back(id);
  graph_.input_files.push_back(-1);
}

// Takes its place in test data all the same.
void GraphBuilder::add_known_input(const onnx::ValueInfoProto& input, const Tensor& tensor,
                                   const std::string& location) {
  const Declaration declared = read_declaration(input);
  const auto value = read_input_type(input, location, sink_)
                         ? known_input(tensor, declared, options_.limits, location, sink_)
                         : std::nullopt;
  const ValueId id = graph_.add_constant(value.value_or(tensor), input.name());
  scope_.ids[input.name()] = id;
  if (value) declare(declared, location, graph_.value(id), sink_);
  ++input_files_;
}

void GraphBuilder::report_unused_constants(const std::unordered_set<std::string_view>& inputs) {
  for (const auto& [name, tensor] : options_.constants) {
    if (inputs.contains(name)) continue;
    sink_.error(DiagKind::kName, "",
                cat("--constant ", printable(name), "=... names no input of the model"));
  }
}

void GraphBuilder::add_input(const onnx::ValueInfoProto& input) {
  const auto file = static_cast<std::size_t>(input_files_);
  auto declaration = input_shapes_.read(input, file).value_or(Declaration{});
  const ValueId id = graph_.add_value(named(input.name(), std::move(declaration)));
  scope_.ids[input.name()] = id;
  graph_.inputs.push_back(id);
  graph_.input_files.push_back(input_files_++);
}

void GraphBuilder::add_outputs() {
  if (proto_.output_size() == 0) sink_.error(DiagKind::kGraph, "", "the graph has no outputs");
  std::unordered_set<std::string_view> seen;
  for (const auto& output : proto_.output()) {
    const std::string location = quoted("output", output.name());
    const auto id = scope_.find(output.name());
    if (!seen.insert(output.name()).second) {
      sink_.error(DiagKind::kGraph, location, "is listed twice");
    } else if (!id) {
      sink_.error(DiagKind::kGraph, location, "is no input, initializer or output of a node");
    } else {
      graph_.outputs.push_back(*id);
    }
  }
}

// The tensor that the user names: by its own name, or by that of the node that computes it.
std::optional<ValueId> GraphBuilder::find_cut(const std::string& name) {
  if (const auto id = scope_.find(name)) return *id;
  if (const auto id = nodes_.find_inner(name)) return *id;
  for (const Node& node : graph_.nodes) {
    if (node.name == name && node.outputs.size() == 1 && node.outputs[0] != kNoValue)
      return node.outputs[0];
  }
  return std::nullopt;
}

// What else there is of about this name.
std::string GraphBuilder::other_cut(const std::string& name) const {
  std::vector<std::string> names;
  for (const Value& value : graph_.values) names.push_back(value.name);
  for (const Node& node : graph_.nodes) names.push_back(node.name);
  return did_you_mean(name, names);
}

// The tensors that the user wants instead of the file's outputs.
void GraphBuilder::add_cuts() {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : options_.cuts) {
    const auto id = find_cut(name);
    if (!seen.insert(name).second) {
      sink_.error(DiagKind::kName, quoted("--cut", name), "is given twice");
    } else if (!id) {
      sink_.error(DiagKind::kName, quoted("--cut", name),
                  "is no input, initializer, node or output of a node" + other_cut(name));
    } else {
      graph_.outputs.push_back(*id);
    }
  }
}

void GraphBuilder::add_declarations() {
  const auto add = [&](const char* role, const onnx::ValueInfoProto& info) {
    const auto id = scope_.find(info.name());
    if (!id || !check_is_tensor(info, quoted(role, info.name()))) return;
    declare(read_declaration(info), quoted(role, info.name()), graph_.value(*id), sink_);
  };
  for (const auto& output : proto_.output()) add("output", output);
  for (const auto& info : proto_.value_info()) {
    if (!info.type().has_sequence_type())
      add("value", info);  // lists, of which resolve has no more
  }
}

// That a value is declared as a tensor that there can be, as far as it is declared.
bool GraphBuilder::check_is_tensor(const onnx::ValueInfoProto& info, const std::string& location) {
  const onnx::TypeProto& type = info.type();
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return true;
  if (!type.has_tensor_type()) {
    sink_.error(DiagKind::kType, location, "is declared as something else than a tensor");
    return false;
  }
  const int element = type.tensor_type().elem_type();
  if (element == 0 || dtype_from_onnx(element)) return true;
  sink_.error(DiagKind::kType, location,
              cat("element type ", onnx_type_text(element), " is not supported"));
  return false;
}

bool GraphBuilder::check_name(const std::string& name, const std::string& location) {
  return etch::check_name(name, location, options_.limits, sink_);
}

}  // namespace etch
