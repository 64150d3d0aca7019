// See resolve.h. One forward walk: a node is checked, written as several if it stands for them,
// resolved by its operator, and folded at once, because later shapes and conditions of If may
// depend on the folded value.
#include "compiler/passes/resolve.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/dead_code.h"
#include "compiler/ir/origin.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"
#include "compiler/passes/branches.h"
#include "compiler/passes/compositions/qonnx.h"
#include "compiler/passes/counted_rows.h"
#include "compiler/passes/empty_regions.h"
#include "compiler/passes/fixed_boxes.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/fold_doubles.h"
#include "compiler/passes/half_moves.h"
#include "compiler/passes/loop_trips.h"
#include "compiler/passes/other_floats.h"
#include "compiler/passes/rename.h"
#include "compiler/passes/sequences.h"
#include "compiler/passes/unfuse.h"

namespace etch {

namespace {

void report(const Node& node, DiagKind kind, std::string what, Sink& sink) {
  sink.report({Severity::kError, kind, node.index, location_of(node), std::move(what)});
}

std::string domain_text(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : printable(domain);
}

std::string unknown_text(const Node& node) {
  if (node.domain == "com.microsoft.nchwc") {
    return cat("'", printable(node.op_type), "' is in a layout for one kind of CPU, which ONNX ",
               "Runtime's optimizer writes at its level 'all'; save the optimized model at level ",
               "'extended'");
  }
  return cat("the domain ", domain_text(node.domain), " has no operator '", printable(node.op_type),
             "' that can be compiled");
}

// One report for each unknown operator, at its first node: networks use the same one many times.
void report_unknown_operators(const std::vector<Node>& nodes, Sink& sink) {
  std::map<std::pair<std::string_view, std::string_view>, std::pair<const Node*, int>> uses;
  for (const Node& node : nodes) {
    if (node.op != nullptr || may_be_fused(node) || !node.branches.empty()) continue;
    if (Sequences::is_about(node)) continue;
    ++uses.try_emplace({node.domain, node.op_type}, &node, 0).first->second.second;
  }
  // What helps, once.
  std::string_view advice =
      " (docs/operators.md lists those that can; --cut NAME compiles what comes before)";
  for (const auto& [operation, use] : uses) {
    const auto& [node, count] = use;
    const std::string more = count == 1 ? "" : cat(", used by ", count, " nodes");
    report(*node, DiagKind::kOp, cat(unknown_text(*node), more, advice), sink);
    advice = "";
  }
}

bool check_domain(const Graph& graph, const Node& node, Sink& sink) {
  if (graph.opset(node.domain) != 0 || node.domain == kNhwc || is_qonnx(node.domain)) return true;
  report(node, DiagKind::kVersion, cat("the domain ", domain_text(node.domain), " is not imported"),
         sink);
  return false;
}

// The node's domain must be imported, in a version that has the operator. Nodes made by passes
// are not the file's business and skip this.
bool check_version(const Graph& graph, const Node& node, Sink& sink) {
  if (!check_domain(graph, node, sink)) return false;
  const std::int64_t version = graph.opset(node.domain);
  const OpName* name = find_name(*node.op, node.domain, node.op_type);
  if (name == nullptr || node.domain == kNhwc || version >= name->since) return true;
  report(node, DiagKind::kVersion,
         cat("exists since version ", name->since, " of ", domain_text(node.domain),
             ", the model imports ", version),
         sink);
  return false;
}

std::string range_text(int least, int most) {
  return least == most ? cat(least) : cat(least, " to ", most);
}

bool check_count(const Node& node, const std::vector<ValueId>& ids, int least, int most,
                 const char* role, Sink& sink) {
  const auto count = static_cast<int>(ids.size());
  if (count < least || count > most) {
    report(node, DiagKind::kGraph,
           cat("must have ", range_text(least, most), " ", role, "s, has ", count), sink);
    return false;
  }
  for (int i = 0; i < least; ++i) {
    if (ids[static_cast<std::size_t>(i)] != kNoValue) continue;
    report(node, DiagKind::kGraph, cat(role, " ", i, " is required, but omitted"), sink);
    return false;
  }
  return true;
}

bool check_arity(const Node& node, Sink& sink) {
  const Arity& arity = node.op->arity;
  const bool inputs_good =
      check_count(node, node.inputs, arity.min_inputs, arity.max_inputs, "input", sink);
  return check_count(node, node.outputs, arity.min_outputs, arity.max_outputs, "output", sink) &&
         inputs_good;
}

// Which values have a final type and shape.
class Known {
 public:
  explicit Known(const Graph& graph) : graph_(graph) { add_all(graph.inputs); }

  void add_all(const std::vector<ValueId>& ids) {
    flags_.resize(graph_.values.size());
    for (const ValueId id : ids) {
      if (id != kNoValue) flags_[static_cast<std::size_t>(id)] = true;
    }
  }

  bool has_all(const std::vector<ValueId>& ids) const {
    return std::all_of(ids.begin(), ids.end(), [&](ValueId id) {
      const auto at = static_cast<std::size_t>(id);
      return id == kNoValue || graph_.value(id).constant != nullptr ||
             (at < flags_.size() && flags_[at]);
    });
  }

 private:
  const Graph& graph_;
  std::vector<bool> flags_;
};

// Takes the nodes of a graph one by one and writes them back, some as several.
class Resolver {
 public:
  Resolver(Graph& graph, Sink& sink)
      : graph_(graph),
        sink_(sink),
        folder_(graph, FoldDequantize::kNo),
        known_(graph),
        trips_(graph, sink),
        floats_(graph),
        counted_(graph, sink),
        lists_(graph, sink) {}

  void run_all(std::vector<Node> nodes) {
    read_empty_inputs(nodes);
    for (Node& node : floats_.enter(nodes)) add_known(std::move(node));
    run(std::move(nodes));
    refuse_lists();
    for (Node& node : floats_.leave(sink_)) {
      for (Node& part : counted_.zero_input(node)) add_known(std::move(part));
      counted_.follow(node);
      add_known(std::move(node));
    }
    const auto is_known = [&](ValueId id) { return known_.has_all({id}); };
    for (Node& node : counted_.give_outputs(is_known)) add_known(std::move(node));
  }

 private:
  std::shared_ptr<const Tensor> nothing(const Value& value) const {
    return std::make_shared<const Tensor>(*value.dtype, *value.shape);
  }

  void refuse_lists() {
    for (const ValueId id : graph_.outputs) {
      if (!lists_.has(id)) continue;
      sink_.error(DiagKind::kType, cat("output '", printable(graph_.value(id).name), "'"),
                  "is a list of tensors; outputs must be tensors");
    }
  }

  // An input without elements is known: nodes read a constant instead. The port stays. Those that
  // floats_ converts to float32 are known once they are.
  void read_empty_inputs(std::vector<Node>& nodes) {
    Names names;
    for (const ValueId id : graph_.inputs) {
      const Value value = graph_.value(id);
      const bool is_converted =
          value.dtype == DType::kF16 || value.dtype == DType::kBF16 || value.dtype == DType::kF64;
      if (is_converted || element_count(*value.shape) > 0) continue;
      names[id] = graph_.add_value({value.name, value.dtype, value.shape, nothing(value)});
    }
    rename(nodes, names, {});
    rename(graph_.outputs, names);
  }

  // A result without elements is known, whatever it is computed from. What a loop carries or a
  // branch gives was dropped by drop_empty, or is reported.
  void know_empty_outputs(Node& node) {
    if (is_region_begin(node)) return;
    for (ValueId& id : node.outputs) {
      if (id == kNoValue) continue;
      Value& value = graph_.value(id);
      if (element_count(*value.shape) > 0) continue;
      value.constant = nothing(value);
      id = kNoValue;
    }
  }

  void run(std::vector<Node> nodes) {
    report_unknown_operators(nodes, sink_);
    for (Node& node : nodes) resolve(std::move(node));
  }

  void resolve(Node node) {
    if (lists_.concerns(node)) return resolve_list(std::move(node));
    const bool is_counted = known_.has_all(node.inputs) && counted_.concerns(node);
    if (!is_counted && fold_doubles(graph_, node)) return known_.add_all(node.outputs);
    if (known_.has_all(node.inputs) && node.branches.empty()) {
      if (refuses_bits(node)) return graph_.nodes.push_back(std::move(node));
      for (Node& each : floats_.read_constants(node)) {
        counted_.follow(each);
        add_known(std::move(each));
      }
    }
    if (known_.has_all(node.inputs) && node.branches.empty() && counted_.concerns(node))
      return write_counted(node);
    resolve_plain(std::move(node));
  }

  bool refuses_bits(const Node& node) {
    const auto type = floats_.type_of_lost_bits(node);
    if (!type) return false;
    report(node, DiagKind::kUnsupported,
           cat("the bits of ", name_of(*type), " are not at hand: it is computed in float32"),
           sink_);
    return true;
  }

  // A node that makes or reads lists of tensors.
  void resolve_list(Node node) {
    const auto is_list = [&](ValueId id) { return lists_.has(id); };
    std::vector<ValueId> tensors = node.inputs;
    std::erase_if(tensors, is_list);
    if (!known_.has_all(tensors)) return;  // reported where they should be made
    if (!node.branches.empty() && graph_.value(node.inputs[0]).constant != nullptr) {
      node.inputs = std::move(tensors);
      return take_branch(std::move(node));
    }
    if (node.op_type == "SplitToSequence" && counted_.concerns(node)) return write_counted(node);
    for (Node& part : lists_.write(node)) {
      for (Node& each : floats_.read_constants(part)) add_known(std::move(each));
      if (known_.has_all(part.inputs) && counted_.concerns(part)) {
        write_counted(part);
      } else {
        is_fused(graph_, part) ? resolve_plain(std::move(part)) : add(std::move(part));
      }
    }
  }

  void write_counted(const Node& node) {
    std::vector<Node> parts = counted_.write(node);
    if (parts.empty()) graph_.nodes.push_back(node);
    for (Node& part : parts) {  // the node itself has an operator, parts find theirs
      const bool is_own = part.op != nullptr || !part.branches.empty() || is_fused(graph_, part);
      is_own ? resolve_plain(std::move(part)) : add(std::move(part));
    }
  }

  void resolve_plain(Node node) {
    const bool is_edge = is_region_begin(node) || is_region_end(node);  // of no file's domain
    if (known_.has_all(node.inputs) && is_fused(graph_, node)) {
      write_parts(std::move(node));
    } else if (!node.branches.empty()) {
      take_branch(std::move(node));
    } else if (is_edge || (node.op != nullptr && check_version(graph_, node, sink_))) {
      add(std::move(node));
    } else {
      graph_.nodes.push_back(std::move(node));
    }
  }

  void write_parts(Node node) {
    std::vector<Node> parts;
    if (check_domain(graph_, node, sink_)) parts = unfused(graph_, node, sink_);
    if (parts.empty()) graph_.nodes.push_back(std::move(node));
    for (Node& part : parts)
      is_fused(graph_, part) ? resolve_plain(std::move(part)) : add(std::move(part));
  }

  void add(Node node) {
    std::vector<Node> casts;
    if (known_.has_all(node.inputs)) casts = floats_.split_cast(node);
    if (casts.empty()) return add_known(std::move(node));
    for (Node& each : casts) add_known(std::move(each));
  }

  void add_known(Node node) {
    if (known_.has_all(node.inputs)) {
      drop_empty(graph_, node);
      if (!trips_.prepare(node)) return;
    }
    const std::vector<ValueId> outputs = node.outputs;  // resolve_node may take out constants
    if (known_.has_all(node.inputs) && resolve_node(graph_, node, sink_)) {
      if (makes_no_trip(node)) {
        for (Node& each : without_loop(graph_, node)) add_known(std::move(each));
        return;
      }
      known_.add_all(outputs);
      know_empty_outputs(node);
      folder_.fold(node);
    }
    graph_.nodes.push_back(std::move(node));
    trips_.added();
  }

  // The nodes of the branch in place of the If, or of both.
  void take_branch(Node node) {
    if (!known_.has_all(node.inputs)) return;  // reported where they should be made
    if (!check_condition(node)) return;
    const Tensor* const condition = graph_.value(node.inputs[0]).constant.get();
    if (condition == nullptr) return take_both(std::move(node));
    const bool holds = condition->integer(0) != 0;
    graph_.fusions.fused(node, cat("takes its ", holds ? "then" : "else", "_branch"));
    run(std::move(node.branches[holds ? 0 : 1]));
  }

  // Where a branch cannot be compiled, the condition may hang on an input that could be a constant,
  // a sample rate for example, which would take the other one.
  void take_both(Node node) {
    const std::size_t errors = sink_.error_count();
    const Node edge = node;
    // Fewer rows, mostly none, can be given as if they were those of the branch before.
    const bool swaps = counted_.counts(node.branches[1]) && !counted_.counts(node.branches[0]);
    run(both_branches(graph_, std::move(node), swaps ? 1 : 0));
    if (sink_.error_count() == errors) return;
    const ValueId input = only_input_of(graph_, edge.inputs[0], 1);
    if (input == kNoValue || input_file_of(graph_, input) < 0) return;
    // Before what is wrong with the branches, so that what helps is read first.
    const std::string& name = graph_.value(input).name;
    sink_.report(
        {Severity::kError, DiagKind::kUnsupported, -1, location_of(edge),
         cat("both branches are compiled, because the condition is computed from the input '",
             printable(name), "', and one cannot be", constant_hint(graph_, input),
             compared_with(edge.inputs[0], input)),
         name, input_file_of(graph_, input)});
  }

  // ", e.g. NAME=16000, which it is compared with" where the condition is Equal of this input and
  // an integer; else empty.
  std::string compared_with(ValueId condition, ValueId input) const {
    const int producer = producers_of(graph_)[static_cast<std::size_t>(condition)];
    if (producer < 0) return {};
    const Node& node = graph_.nodes[static_cast<std::size_t>(producer)];
    if (node.op_type != "Equal" || !std::ranges::count(node.inputs, input)) return {};
    const ValueId id = node.inputs[node.inputs[0] == input ? 1 : 0];
    const Tensor* const other = graph_.value(id).constant.get();
    if (other == nullptr || other->size() != 1) return {};
    if (other->dtype() != DType::kS64 && other->dtype() != DType::kS32) return {};
    return cat(", e.g. ", printable(graph_.value(input).name), "=", other->integer(0),
               ", which it is compared with");
  }

  // Whether that of an If is a truth value; reports it otherwise.
  bool check_condition(const Node& node) {
    const Value& value = graph_.value(node.inputs[0]);
    const std::string name = cat("the condition '", printable(value.name), "' ");
    if (value.dtype != DType::kBool) {
      report(node, DiagKind::kType, name + "must be a bool", sink_);
    } else if (element_count(*value.shape) != 1) {
      report(node, DiagKind::kShape,
             cat(name, "must have one element, has shape ", to_string(*value.shape)), sink_);
    } else {
      return true;
    }
    return false;
  }

  Graph& graph_;
  Sink& sink_;
  ConstantFolder folder_;
  Known known_;
  LoopTrips trips_;
  OtherFloats floats_;
  CountedRows counted_;
  Sequences lists_;
};

}  // namespace

bool resolve_node(Graph& graph, Node& node, Sink& sink) {
  if (node.op == nullptr) node.op = find_op(node.domain, node.op_type);
  if (node.op == nullptr) {
    report(node, DiagKind::kOp, unknown_text(node), sink);
    return false;
  }
  if (!check_arity(node, sink)) return false;
  node.float_steps = graph.float_steps;
  ResolveContext context(graph, node, sink);
  node.op->resolve(context);
  if (!context.failed()) context.report_unused_attributes();
  if (context.failed()) return false;
  for (const ValueId output : node.outputs) {
    if (output == kNoValue) continue;
    ETCH_CHECK(graph.value(output).dtype.has_value() && graph.value(output).shape.has_value());
  }
  return true;
}

void resolve(Graph& graph, Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  std::vector<Node> nodes = std::exchange(graph.nodes, {});
  fix_box_counts(graph, nodes);
  Resolver(graph, sink).run_all(std::move(nodes));
  if (sink.error_count() != errors_before) return;
  keep_half_moves(graph);
  remove_dead(graph);
  verify(graph, Resolved::kYes);
}

}  // namespace etch
