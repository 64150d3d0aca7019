// Bookkeeping of fused and missed fusions; see fusion_log.h.
#include "compiler/ir/fusion_log.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/graph.h"

namespace etch {

namespace {
using Outcome = FusionRecord::Outcome;

FusionRecord record_of(Outcome outcome, const Node& node, std::string what) {
  return {outcome, node.index, printable(node.op_type), printable(node.name), std::move(what)};
}
}  // namespace

void FusionLog::fused(const Node& node, std::string what) {
  FusionRecord record = record_of(Outcome::kFused, node, std::move(what));
  std::erase_if(records_, [&](const FusionRecord& old) {
    if (old.node != record.node) return false;
    const bool repeated = old.op_type == record.op_type && old.what == record.what;
    return old.outcome == Outcome::kMissed || repeated;
  });
  records_.push_back(std::move(record));
}

void FusionLog::missed(const Node& node, std::string why) {
  FusionRecord record = record_of(Outcome::kMissed, node, std::move(why));
  std::erase_if(records_, [&](const FusionRecord& old) {
    return old.outcome == Outcome::kMissed && old.node == record.node;
  });
  records_.push_back(std::move(record));
}

void FusionLog::offer(const Node& node, std::string option) {
  for (FusionRecord& record : records_) {
    if (record.outcome == Outcome::kMissed && record.node == node.index) record.option = option;
  }
}

void FusionLog::forget(const Node& node) {
  std::erase_if(records_, [&](const FusionRecord& old) { return old.node == node.index; });
}

void FusionLog::finish(const Graph& graph) {
  std::set<std::pair<int, std::string>> left;
  for (const Node& node : graph.nodes) left.emplace(node.index, printable(node.op_type));
  std::erase_if(records_, [&](const FusionRecord& record) {
    return record.outcome == Outcome::kMissed && !left.contains({record.node, record.op_type});
  });
  std::ranges::stable_sort(records_, {}, &FusionRecord::node);
}

std::string title_of(const FusionRecord& record) {
  if (record.name.empty()) return cat(record.op_type, " #", record.node);
  return cat(record.op_type, " '", record.name, "'");
}

std::string reason_of(const FusionRecord& record) {
  return record.option.empty() ? record.what
                               : cat(record.what, " (", record.option, " makes it integer)");
}

}  // namespace etch
