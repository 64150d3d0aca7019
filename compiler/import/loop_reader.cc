// Loop and Scan -> nodes of the list around them: a region_begin, the body's nodes, a region_end
// (compiler/ops/region_begin/op.h). A Scan is a loop whose body begins by picking its slices. What
// the body hands on unchanged is no part of the loop: it is known before, perhaps when compiling.
// The Scan of ai.onnx 8, whose inputs have a batch in front, is a Scan in a Scan over the batch.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/import/checked_name.h"
#include "compiler/import/node_reader.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
using AxisList = std::vector<std::int64_t>;

Node made_for(const Node& origin, std::string_view domain, std::string type,
              std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node node;
  node.index = origin.index;
  node.name = origin.name;
  node.domain = domain;
  node.op_type = std::move(type);
  node.op = find_op(node.domain, node.op_type);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

// The value that an Identity of `nodes`, or several, hand on as `id`.
ValueId origin_of(ValueId id, const std::map<ValueId, ValueId>& same) {
  std::size_t steps = 0;
  for (auto at = same.find(id); at != same.end() && steps <= same.size(); at = same.find(id)) {
    id = at->second;
    ++steps;
  }
  return id;
}

std::map<ValueId, ValueId> identities(const std::vector<Node>& nodes) {
  std::map<ValueId, ValueId> out;
  for (const Node& node : nodes) {
    const bool is_identity = node.op_type == "Identity" && node.domain.empty() &&
                             node.inputs.size() == 1 && node.outputs.size() == 1;
    if (is_identity && node.inputs[0] != kNoValue) out.emplace(node.outputs[0], node.inputs[0]);
  }
  return out;
}

bool reads(const Node& node, ValueId id) {
  return std::ranges::count(node.inputs, id) > 0;  // those of an If have what its branches read
}

// The node of a body that appends to the carried list `name`, to give `result`, where nothing else
// looks at either; else the end.
std::vector<Node>::iterator appending(std::vector<Node>& body, ValueId name, ValueId result) {
  const auto found = std::ranges::find_if(body, [&](const Node& node) {
    return node.domain.empty() && node.op_type == "SequenceInsert" && node.inputs.size() == 2 &&
           node.inputs[0] == name && node.inputs[1] != name && node.inputs[1] != kNoValue &&
           node.outputs == std::vector<ValueId>{result};
  });
  const auto is_other = [&](const Node& node) {
    return &node != &*found && (reads(node, name) || reads(node, result));
  };
  if (found == body.end() || std::ranges::any_of(body, is_other)) return body.end();
  return found;
}

int declared_rank(const onnx::ValueInfoProto& info) {
  return info.type().tensor_type().shape().dim_size() == 1 ? 1 : 0;
}
}  // namespace

// A loop while it is read: how many values are of which kind, and what they are.
struct LoopParts {
  const onnx::GraphProto* body = nullptr;
  bool scans = false;
  std::size_t carried = 0;           // of the node's inputs and outputs
  std::size_t scanned = 0;           // inputs in slices
  AxisList input_axes, output_axes;  // of slices
  AxisList input_from_end, output_from_end;
  std::vector<ValueId> names;    // of the body's inputs
  std::vector<ValueId> results;  // of the body's outputs
};

namespace {
// A carried list of tensors to which each trip appends one.
struct Appended {
  ValueId element = kNoValue;  // of a trip
  ValueId first = kNoValue;    // the list before the loop
  ValueId output = kNoValue;   // and after it
};

// The list `name` of a Scan, with 0 for each of `count` entries where it is missing. False if it is
// no such list.
bool take_list(Node& node, const char* name, std::size_t count, AxisList& out) {
  out.assign(count, 0);
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return true;
  const auto* const list = std::get_if<AxisList>(&found->second);
  if (list == nullptr || list->size() != count) return false;
  out = *list;
  node.attributes.erase(found);
  return true;
}

bool are_directions(const AxisList& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t d) { return d == 0 || d == 1; });
}

// Which axes slices are of, and from which end. False if a list is none.
bool take_axes(Node& node, std::size_t slices, LoopParts& parts) {
  parts.output_axes.assign(slices, 0);
  parts.output_from_end.assign(slices, 0);
  if (!parts.scans) return true;
  return take_list(node, "scan_input_axes", parts.scanned, parts.input_axes) &&
         take_list(node, "scan_input_directions", parts.scanned, parts.input_from_end) &&
         take_list(node, "scan_output_axes", slices, parts.output_axes) &&
         take_list(node, "scan_output_directions", slices, parts.output_from_end) &&
         are_directions(parts.input_from_end) && are_directions(parts.output_from_end);
}
}  // namespace

// Makes the Scan of ai.onnx 8 one of ai.onnx 9 on each element of a batch.
bool NodeReader::take_batch(Node& node) {
  if (node.inputs.empty() || node.inputs[0] != kNoValue) {
    fail(DiagKind::kUnsupported, node,
         "input 0 (sequence_lens) of the Scan of ai.onnx 8 must be omitted: ai.onnx 9 has it no "
         "longer, because all sequences of a batch have one length");
    return false;
  }
  node.inputs.erase(node.inputs.begin());
  const auto directions = node.attributes.extract("directions");
  if (!directions.empty())
    node.attributes["scan_input_directions"] = std::move(directions.mapped());
  return true;
}

// The scan of one element of the batch, inside of one over all of them.
void NodeReader::add_batch(const Node& node, const LoopParts& parts, std::vector<Node> body,
                           std::vector<Node>& out) {
  Node each = node;
  for (std::vector<ValueId>* const ids : {&each.inputs, &each.outputs})
    for (ValueId& id : *ids) id = graph_.add_value({"", {}, {}, nullptr});
  std::vector<Node> nodes;
  add_loop(each, parts, std::move(body), nodes);
  LoopParts batch;
  batch.scans = true;
  batch.scanned = each.inputs.size();
  batch.input_axes = batch.input_from_end = AxisList(each.inputs.size(), 0);
  batch.output_axes = batch.output_from_end = AxisList(each.outputs.size(), 0);
  batch.names = std::move(each.inputs);
  batch.results = std::move(each.outputs);
  add_loop(node, batch, std::move(nodes), out);
}

bool NodeReader::find_parts(const onnx::NodeProto& proto, Node& node, LoopParts& parts) {
  const auto refuse = [&](DiagKind kind, std::string what) {
    fail(kind, node, std::move(what));
    return false;
  };
  parts.body = subgraph_of(proto, node, "body");
  parts.scans = node.op_type == "Scan";
  if (parts.body == nullptr) return refuse(DiagKind::kAttr, "attribute 'body' is missing");
  const onnx::GraphProto& body = *parts.body;
  const auto inputs = node.inputs.size(), own = static_cast<std::size_t>(body.input_size());
  std::size_t before = 2;  // inputs that the body does not see as they are
  if (parts.scans) {
    before = 0;
    const auto found = node.attributes.find("num_scan_inputs");
    const auto* const count =
        found == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    if (count == nullptr || *count < 1 || std::cmp_greater(*count, inputs))
      return refuse(
          DiagKind::kAttr,
          cat("attribute 'num_scan_inputs' must be given, from 1 to the ", inputs, " inputs"));
    parts.scanned = static_cast<std::size_t>(*count);
    node.attributes.erase(found);
  }
  if (inputs < before || own != inputs) {
    return refuse(DiagKind::kGraph,
                  cat("has ", inputs, " inputs, ", "its body ", own,
                      parts.scans ? "" : "; both have two before what is carried"));
  }
  parts.carried = inputs - before - parts.scanned;
  const std::size_t results = node.outputs.size() + (parts.scans ? 0 : 1);
  if (std::cmp_not_equal(body.output_size(), results) || node.outputs.size() < parts.carried) {
    return refuse(DiagKind::kGraph,
                  cat("has ", node.outputs.size(), " outputs and carries ", parts.carried,
                      " values, its body has ", body.output_size(), " outputs"));
  }
  const std::size_t slices = node.outputs.size() - parts.carried;
  if (!take_axes(node, slices, parts)) {
    return refuse(DiagKind::kAttr,
                  "axes and directions of slices must be lists with one integer for "
                  "each, directions 0 or 1");
  }
  if (node.attributes.empty()) return true;
  return refuse(DiagKind::kAttr, cat("attribute '", printable(node.attributes.begin()->first),
                                     "': is not an attribute of this operator"));
}

// A name that is visible around the body already would mean two values, depending on the reader.
bool NodeReader::refuse_shadows(const onnx::GraphProto& body, const Node& node,
                                const Scope& around) {
  const auto check = [&](const std::string& name) {
    if (name.empty() || !around.sees(name)) return true;
    fail(DiagKind::kName, node,
         cat("its body defines '", printable(name), "', which is defined around it already"));
    return false;
  };
  const auto named = [&](const auto& each) { return check(each.name()); };
  const auto makes = [&](const onnx::NodeProto& each) {
    return std::all_of(each.output().begin(), each.output().end(), check);
  };
  return std::all_of(body.input().begin(), body.input().end(), named) &&
         std::all_of(body.initializer().begin(), body.initializer().end(), named) &&
         std::all_of(body.node().begin(), body.node().end(), makes);
}

bool NodeReader::name_inputs(const Node& node, const LoopParts& parts, Scope& body,
                             std::vector<ValueId>& out) {
  for (int i = 0; i < parts.body->input_size(); ++i) {
    const std::string& name = parts.body->input(i).name();
    const ValueId id = make(name, node, body);
    if (id == kNoValue || !body.ids.try_emplace(name, id).second) {
      fail(DiagKind::kGraph, node,
           cat("input '", printable(name), "' of its body has no name, or that of another"));
      return false;
    }
    out.push_back(id);
  }
  return true;
}

bool NodeReader::read_loop(const onnx::NodeProto& proto, Node& node, Scope& scope,
                           std::vector<Node>& out) {
  const auto version = opsets_.find("");
  const bool has_batch = node.op_type == "Scan" && version != opsets_.end() && version->second < 9;
  if (has_batch && !take_batch(node)) return true;
  LoopParts parts;
  if (!find_parts(proto, node, parts) || !refuse_shadows(*parts.body, node, scope)) return true;
  if (!may_enter(nullptr, node)) return false;
  Scope body = scope_of(*parts.body, node, scope);
  if (!name_inputs(node, parts, body, parts.names)) return true;
  std::vector<Node> nodes;
  entered_.push_back(nullptr);
  if (!read(parts.body->node(), body, nodes)) return false;
  entered_.pop_back();
  for (const auto& output : parts.body->output()) {
    parts.results.push_back(result_of(output.name(), node, body));
    if (parts.results.back() == kNoValue) return true;
  }
  has_batch ? add_batch(node, parts, std::move(nodes), out)
            : add_loop(node, parts, std::move(nodes), out);
  return true;
}

// Picks the slices that the body reads, for the trip that `trip` counts.
std::vector<Node> NodeReader::slices_of(const Node& node, const LoopParts& parts, ValueId trip) {
  std::vector<Node> out;
  ValueId from_end = kNoValue;
  for (std::size_t k = 0; k < parts.scanned; ++k) {
    ValueId index = trip;
    if (parts.input_from_end[k] != 0) {
      if (from_end == kNoValue) {
        const ValueId last = graph_.add_constant(Tensor::of<std::int64_t>({}, {-1}));
        from_end = graph_.add_value({"", {}, {}, nullptr});
        out.push_back(made_for(node, "", "Sub", {last, trip}, {from_end}));
      }
      index = from_end;
    }
    Node pick = made_for(node, "", "Gather", {node.inputs[parts.carried + k], index},
                         {parts.names[parts.carried + k]});
    pick.attributes["axis"] = parts.input_axes[k];
    out.push_back(std::move(pick));
  }
  return out;
}

void NodeReader::add_loop(const Node& node, const LoopParts& parts, std::vector<Node> body,
                          std::vector<Node>& out) {
  const std::map<ValueId, ValueId> same = identities(body);
  const std::size_t before = parts.scans ? 0 : 2, condition = parts.scans ? 0 : 1;
  const ValueId trip = parts.scans ? graph_.add_value({"", {}, {}, nullptr}) : parts.names[0];
  Node begin = made_for(
      node, kEtch, node.op_type,
      {parts.scans ? kNoValue : node.inputs[0], parts.scans ? kNoValue : node.inputs[1]}, {trip});
  Node end = made_for(node, kEtch, node.op_type + "End",
                      {trip, parts.scans ? kNoValue : parts.results[0]}, {});
  std::vector<ValueId> previous, next;
  std::vector<Appended> lists;
  for (std::size_t k = 0; k < parts.carried; ++k) {
    const ValueId first = node.inputs[before + k], name = parts.names[before + k];
    const ValueId result = parts.results[condition + k];
    if (origin_of(result, same) == name) {
      out.push_back(made_for(node, "", "Identity", {first}, {name}));
      if (node.outputs[k] != kNoValue)
        out.push_back(made_for(node, "", "Identity", {first}, {node.outputs[k]}));
      continue;
    }
    const bool is_alone = std::ranges::count(parts.results, result) == 1 &&
                          std::ranges::count(parts.results, name) == 0;
    if (const auto append = appending(body, name, result); is_alone && append != body.end()) {
      lists.push_back({append->inputs[1], first, node.outputs[k]});
      body.erase(append);
      continue;
    }
    begin.inputs.push_back(first);
    begin.outputs.push_back(name);
    previous.push_back(name);
    next.push_back(result);
    end.outputs.push_back(node.outputs[k]);
  }
  if (!parts.scans) {
    // There is no trip without it.
    const int rank = declared_rank(parts.body->input(1));
    Tensor yes(DType::kBool, Shape(static_cast<std::size_t>(rank), 1));
    yes.as<std::uint8_t>()[0] = 1;
    const ValueId holds = graph_.add_constant(std::move(yes));
    out.push_back(made_for(node, "", "Identity", {holds}, {parts.names[1]}));
    begin.attributes["trip_rank"] = std::int64_t{declared_rank(parts.body->input(0))};
  }
  begin.attributes["carried"] = end.attributes["carried"] = end.attributes["previous"] =
      static_cast<std::int64_t>(previous.size());
  if (parts.scans) {
    begin.attributes["axes"] = parts.input_axes;
    begin.inputs.insert(begin.inputs.end(), node.inputs.end() - std::ssize(parts.input_axes),
                        node.inputs.end());
  }
  for (const std::vector<ValueId>* const ids : {&previous, &next})
    end.inputs.insert(end.inputs.end(), ids->begin(), ids->end());
  for (std::size_t k = parts.carried; k < node.outputs.size(); ++k) {
    end.inputs.push_back(parts.results[condition + k]);
    end.outputs.push_back(node.outputs[k]);
  }
  AxisList axes = parts.output_axes, from_end = parts.output_from_end;
  std::vector<Node> after;
  for (const Appended& list : lists) {
    if (list.output == kNoValue) continue;
    const ValueId slices = graph_.add_value({"", {}, {}, nullptr});
    end.inputs.push_back(list.element);
    end.outputs.push_back(slices);
    axes.push_back(0);
    from_end.push_back(0);
    after.push_back(made_for(node, kEtch, "ListOfSlices", {list.first, slices}, {list.output}));
  }
  end.attributes["axes"] = std::move(axes);
  end.attributes["directions"] = std::move(from_end);
  std::vector<Node> picks = slices_of(node, parts, trip);
  out.push_back(std::move(begin));
  for (std::vector<Node>* const nodes : {&picks, &body})
    std::move(nodes->begin(), nodes->end(), std::back_inserter(out));
  out.push_back(std::move(end));
  std::move(after.begin(), after.end(), std::back_inserter(out));
}

}  // namespace etch
