// See loop_trips.h.
#include "compiler/passes/loop_trips.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"
#include "compiler/passes/loop_condition.h"

namespace etch {

namespace {
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

bool is_known(const Graph& graph, ValueId id) {
  return id == kNoValue || graph.value(id).constant != nullptr;
}

// Of conditions; an omitted one holds.
bool is_true(const Graph& graph, ValueId id) {
  return id == kNoValue || (is_known(graph, id) && graph.value(id).constant->integer(0) != 0);
}
bool is_false(const Graph& graph, ValueId id) { return is_known(graph, id) && !is_true(graph, id); }

bool is_condition(const Graph& graph, ValueId id) {
  if (id == kNoValue) return true;
  const Value& value = graph.value(id);
  return value.dtype == DType::kBool && element_count(*value.shape) == 1;
}
}  // namespace

bool LoopTrips::fail(DiagKind kind, const Node& node, std::string what) {
  sink_.report({Severity::kError, kind, node.index, location_of(node), std::move(what)});
  return false;
}

void LoopTrips::added() {
  const Node& node = graph_.nodes.back();
  if (is_region_begin(node) && node.params.has_value()) open_.push_back({graph_.nodes.size() - 1});
}

bool LoopTrips::prepare(Node& node) {
  if (!is_region_end(node)) return true;
  // Those whose ends could not be resolved have been reported.
  while (!open_.empty() && graph_.nodes[open_.back().begin].outputs[0] != node.inputs[0])
    open_.pop_back();
  if (open_.empty()) return false;
  if (!is_condition(graph_, node.inputs[1])) return true;  // its own rules report it
  Count trips{1, true};
  const bool is_branch = node.attributes.contains("when");
  if (!is_branch && !count(graph_.nodes[open_.back().begin], node, trips)) return false;
  if (!check_total(is_branch ? 0 : trips.most)) return false;
  node.attributes["trips"] = trips.most;
  node.attributes["conditional"] = std::int64_t{trips.conditional ? 1 : 0};
  return true;
}

// What the trip count, the slices and known conditions allow; kUnbounded where nothing bounds it.
bool LoopTrips::bound(const Node& begin, ValueId goes_on, Count& out) {
  const std::int64_t slices = params_of<RegionBegin>(begin).slices;
  out.most = slices >= 0 ? slices : kUnbounded;
  if (const ValueId trip_count = begin.inputs[0]; trip_count != kNoValue) {
    const Value& value = graph_.value(trip_count);
    if (value.constant == nullptr) {
      return fail(DiagKind::kUnsupported, begin,
                  cat("the trip count '", printable(value.name),
                      "' is computed at run time; it must be known when compiling",
                      constant_hint(graph_, trip_count)));
    }
    out.most = std::max<std::int64_t>(0, value.constant->integer(0));
  }
  if (is_false(graph_, begin.inputs[1])) out.most = 0;
  if (is_false(graph_, goes_on)) out.most = std::min<std::int64_t>(out.most, 1);
  return true;
}

bool LoopTrips::count(const Node& begin, Node& end, Count& out) {
  const ValueId starts = begin.inputs[1];
  ValueId& goes_on = end.inputs[1];
  if (!bound(begin, goes_on, out)) return false;
  if (starts == kNoValue && !is_true(graph_, goes_on)) {
    return fail(DiagKind::kUnsupported, begin, std::string(kOnlyBodyHasCondition));
  }
  if (is_true(graph_, starts) && !is_known(graph_, goes_on) && out.most > 0) {
    if (const auto trips = computed_trips(graph_, open_.back().begin, end, out.most)) {
      out.most = *trips;
      goes_on = kNoValue;
    }
  }
  // A bound that the file states is enough.
  if (!is_known(graph_, goes_on) && out.most == kUnbounded)
    out.most = implied_trips(graph_, open_.back().begin, end, out.most).value_or(kUnbounded);
  if (is_known(graph_, goes_on) || out.most == 0) goes_on = kNoValue;  // nothing looks at it
  out.conditional = out.most > 0 && (!is_true(graph_, starts) || goes_on != kNoValue);
  return true;
}

// Loops in loops multiply. More than the limit is work out of all proportion.
bool LoopTrips::check_total(std::int64_t trips) {
  const auto [at, inner] = open_.back();
  const Node& begin = graph_.nodes[at];
  const bool is_branch = trips == 0 && begin.op_type == "If";
  const auto total = is_branch ? inner : checked_mul(trips, 1 + inner).value_or(kUnbounded);
  if (total > graph_.limits.trips && trips == kUnbounded) {
    return fail(
        DiagKind::kLimit, begin,
        cat("has no bound of its trips, only a condition ends it: its first input, the trip "
            "count, must be a constant that no run exceeds, of at most ",
            graph_.limits.trips,
            " (in PyTorch a loop over range(N) that leaves with break, in place of while)"));
  }
  if (total > graph_.limits.trips) {
    const std::string seen =
        inner == 0 ? cat("makes up to ", trips, " trips")
                   : cat("makes up to ", trips, " trips, and ", inner, " of loops inside in each");
    return fail(DiagKind::kLimit, begin, cat(seen, ", ", at_most(graph_.limits, &Limits::trips)));
  }
  open_.pop_back();
  if (!open_.empty()) open_.back().inner = std::min(open_.back().inner + total, kUnbounded / 4);
  return true;
}

}  // namespace etch
