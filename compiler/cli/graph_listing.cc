// Tables of graphs; see graph_listing.h.
#include "compiler/cli/graph_listing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/cli/columns.h"

namespace etch::cli {
namespace {

using Outcome = FusionRecord::Outcome;
using TypedValues = std::map<std::string, const Value*>;

TypedValues values_by_name(const Graph& graph) {
  TypedValues out;
  for (const Value& value : graph.values) {
    if (!value.name.empty() && value.dtype && value.shape) out.emplace(value.name, &value);
  }
  return out;
}

std::string type_text(const Value& value, const TypedValues& typed) {
  const bool complete = value.dtype && value.shape && std::ranges::count(*value.shape, -1) == 0;
  const auto found = typed.find(value.name);
  const Value& known = complete || found == typed.end() ? value : *found->second;
  return cat(known.dtype ? name_of(*known.dtype) : "?",
             known.shape ? etch::to_string(*known.shape) : std::string("[?]"));
}

}  // namespace

std::vector<ListedNode> list_nodes(const Graph& graph, const Graph& typed) {
  const std::vector<int> producers = producers_of(graph);
  const TypedValues types = values_by_name(typed);
  std::vector<ListedNode> out;
  for (const Node& node : graph.nodes) {
    ListedNode listed;
    listed.index = node.index;
    listed.op_type = printable(node.op_type);
    listed.name = printable(node.name);
    const auto first = std::ranges::find_if(node.outputs, [](ValueId id) { return id >= 0; });
    listed.output = first == node.outputs.end() ? "-" : type_text(graph.value(*first), types);
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      const int producer = producers[static_cast<std::size_t>(id)];
      const auto input = std::ranges::find(graph.inputs, id);
      if (producer >= 0) {
        listed.reads.push_back(cat("#", graph.nodes[static_cast<std::size_t>(producer)].index));
      } else if (input != graph.inputs.end()) {
        listed.reads.push_back(cat("input ", input - graph.inputs.begin()));
      } else {
        ++listed.constants;
      }
    }
    out.push_back(std::move(listed));
  }
  return out;
}

std::vector<std::string> table_of(const std::vector<ListedNode>& nodes) {
  std::vector<std::vector<std::string>> rows = {
      {"#", "operator", "output", "reads", "constants", "name"}};
  for (const ListedNode& node : nodes) {
    rows.push_back({cat(node.index), node.op_type, node.output, joined(node.reads),
                    node.constants == 0 ? "-" : cat(node.constants), node.name});
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line = "  " + right_aligned(row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) line += "  " + left_aligned(row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> lines_of(const FusionLog& fusions) {
  std::map<std::pair<std::string, std::string>, int> fused;
  std::vector<std::string> missed;
  for (const FusionRecord& record : fusions.records()) {
    if (record.outcome == Outcome::kFused) ++fused[{record.op_type, record.what}];
    if (record.outcome == Outcome::kMissed) {
      const std::string name = record.name.empty() ? "" : cat(" '", record.name, "'");
      missed.push_back(cat("  #", record.node, " ", record.op_type, name, ": ", reason_of(record)));
    }
  }
  std::vector<std::string> lines = {fused.empty() ? "fused         nothing" : "fused"};
  for (const auto& [kind, count] : fused) {
    lines.push_back(cat("  ", count, "\t", kind.first, " ", kind.second));
  }
  lines.emplace_back(missed.empty() ? "not fused     nothing that is quantized" : "not fused");
  lines.insert(lines.end(), missed.begin(), missed.end());
  return lines;
}

}  // namespace etch::cli
