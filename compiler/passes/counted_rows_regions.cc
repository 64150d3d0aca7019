// Counted rows that enter and leave Loop, Scan and If; see counted_rows.h. A loop carries them
// where each trip gives back as many as it got. A branch gives them with their number as one more
// result.
#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/ops/region_end/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/compositions/parts.h"
#include "compiler/passes/counted_rows.h"
#include "compiler/passes/loop_condition.h"

namespace etch {

namespace {

std::size_t count_of(const Node& node, const char* attribute) {
  return static_cast<std::size_t>(int_attribute(node, attribute, 0));
}

std::vector<ValueId>::iterator at(std::vector<ValueId>& ids, std::size_t i) {
  return ids.begin() + static_cast<std::ptrdiff_t>(i);
}

}  // namespace

// The token (region_begin's output 0) of the innermost region that is open, other than `but`.
ValueId CountedRows::open_region(ValueId but) const {
  int closed = 0;
  for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
    const Node& node = graph_.nodes[i];
    if (is_region_end(node)) ++closed;
    if (!is_region_begin(node) || node.outputs[0] == but) continue;
    if (closed == 0) return node.outputs[0];
    --closed;
  }
  return kNoValue;
}

bool CountedRows::counts(const std::vector<Node>& nodes) const {
  return std::ranges::any_of(nodes, [&](const Node& node) {
    const bool makes =
        is_one_of(node.op_type, {"NonZero", "Compress", "Unique", "NonMaxSuppression"});
    const auto is_counted = [&](ValueId id) { return rows_of(id) != nullptr; };
    return (makes && node.domain.empty()) || std::ranges::any_of(node.inputs, is_counted) ||
           std::ranges::any_of(node.branches, [&](const auto& each) { return counts(each); });
  });
}

// What is carried or guarded has the rows of what it is another name of. Their number is computed
// before a branch, as everything that reads no guarded value. The inputs of a Scan are read by the
// nodes that cut them.
void CountedRows::enter(const Node& begin) {
  const std::size_t names = count_of(begin, "carried") + count_of(begin, "guarded");
  for (std::size_t k = 0; k < names; ++k) {
    if (const Rows* const rows = rows_of(begin, k + 2))
      mark(begin.outputs[k + 1], rows->axis, Rows(*rows));
  }
}

// The nodes of `parts` and what `node` becomes after them. Empty after a report.
std::vector<Node> CountedRows::after(Parts& parts, const Node& node) {
  std::vector<Node> out = parts.take_parts();
  const std::vector<Node> rest = concerns(node) ? write(node) : std::vector<Node>{node};
  if (rest.empty()) out.clear();
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// A loop with a trip for each row: as many trips as there can be, and a condition that ends it.
std::vector<Node> CountedRows::enter_rows(const Node& node) {
  Parts parts(graph_, node, sink_);
  const Rows rows = *size_of(node.inputs[0]);
  Node begin = node;
  ValueId more = parts.add("Less", {parts.number(DType::kS64, 0), rows.count});
  if (node.inputs[1] != kNoValue)
    more = parts.add("And", {more, parts.reshape(node.inputs[1], {})});
  begin.inputs[0] = parts.number(DType::kS64, rows.most);
  begin.inputs[1] = more;
  trips_.emplace(begin.outputs[0], rows);
  if (node.inputs[1] == kNoValue) no_condition_.insert(begin.outputs[0]);
  return after(parts, begin);
}

std::vector<Node> CountedRows::leave_rows(const Node& node) {
  const Rows rows = trips_.extract(node.inputs[0]).mapped();
  const ValueId goes_on = node.inputs[1];
  const Tensor* const known = goes_on == kNoValue ? nullptr : graph_.value(goes_on).constant.get();
  const bool computes = goes_on != kNoValue && (known == nullptr || known->integer(0) == 0);
  if (computes && no_condition_.contains(node.inputs[0])) {
    refuse_region(node, rows, kOnlyBodyHasCondition);
    return {};
  }
  Parts parts(graph_, node, sink_);
  Node end = node;
  const ValueId next = parts.add("Add", {node.inputs[0], parts.number(DType::kS64, 1)});
  ValueId more = parts.add("Less", {next, rows.count});
  if (node.inputs[1] != kNoValue) more = parts.add("And", {more, node.inputs[1]});
  end.inputs[1] = more;
  return after(parts, end);
}

bool CountedRows::refuse_region(const Node& node, const Rows& rows, std::string_view why) {
  sink_.report(
      {Severity::kError, DiagKind::kUnsupported, node.index, location_of(node),
       cat(why, " (0 to ", rows.most, ", as many as ", rows.maker, " finds at run time)")});
  return false;
}

// False after a report.
bool CountedRows::leave_loop(const Node& end) {
  const std::size_t carried = count_of(end, "carried"), first = 2 + count_of(end, "previous");
  for (std::size_t k = 0; k < carried; ++k) {
    const Rows *const before = rows_of(end, 2 + k), *const next = rows_of(end, first + k);
    if (before == nullptr && next == nullptr) continue;
    const bool same = before != nullptr && next != nullptr && before->source == next->source &&
                      before->axis == next->axis && before->most == next->most;
    if (!same) {
      return refuse_region(end, next == nullptr ? *before : *next,
                           cat("carried value ", k, " has counted rows, and a trip must give back ",
                               "as many as it got, by operators that treat each row alone"));
    }
    mark(end.outputs[k], before->axis, Rows(*before));
  }
  Ints axes;
  const auto found = end.attributes.find("axes");
  if (found != end.attributes.end()) axes = std::get<Ints>(found->second);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const Rows* const rows = rows_of(end, first + carried + k);
    if (rows == nullptr) continue;
    if (rows->region == end.inputs[0]) {
      return refuse_region(end, *rows,
                           cat("output ", carried + k,
                               " has a slice of each trip, whose rows that "
                               "trip counts: all slices must have as many"));
    }
    const std::size_t axis = from_start(axes[k], shape(end, first + carried + k).size() + 1);
    mark(end.outputs[carried + k], rows->axis + (axis <= rows->axis ? 1 : 0), Rows(*rows));
  }
  return true;
}

// `id`, which has `rows`, or where there are none as many as its shape says, with zeros up to
// `most` of them; `count` becomes their number.
ValueId CountedRows::filled(Parts& parts, ValueId id, const Rows* rows, const Rows& wanted,
                            ValueId& count) {
  Shape rest = *graph_.value(id).shape;
  const std::int64_t size = rest[wanted.axis];
  count = rows != nullptr ? rows->count : parts.number(DType::kS64, size);
  if (size == wanted.most) return id;
  rest[wanted.axis] = wanted.most - size;
  const ValueId zeros = parts.constant(Tensor(*graph_.value(id).dtype, rest));
  if (size > 0) return parts.concat({id, zeros}, static_cast<std::int64_t>(wanted.axis));
  return zeros;
}

// Whether a result of the second branch can have the rows that the first one's has.
bool CountedRows::may_become(ValueId id, const Rows* rows, ValueId before, const Rows& wanted) {
  const Value &value = graph_.value(id), &first = graph_.value(before);
  const bool alike = value.dtype == first.dtype && value.shape->size() == first.shape->size() &&
                     (rows == nullptr || rows->axis == wanted.axis);
  if (!alike || (*value.shape)[wanted.axis] > wanted.most) return false;
  Shape one = *value.shape, other = *first.shape;
  one[wanted.axis] = other[wanted.axis] = 0;
  return one == other;
}

// The end of a branch with the number of rows of each counted result as one more. Empty after a
// report.
std::vector<Node> CountedRows::leave_branch(const Node& node) {
  Node end = node;
  Parts parts(graph_, node, sink_);
  const std::size_t carried = count_of(end, "carried"), previous = count_of(end, "previous");
  std::size_t more = 0;
  // Results that have equally many rows in either branch, so that they can be combined.
  std::map<std::pair<ValueId, std::int64_t>, ValueId> alike;
  for (std::size_t k = 0; k < carried; ++k) {
    const std::size_t at_next = 2 + previous + more * (previous > 0 ? 1 : 0) + k;
    const ValueId before = previous > 0 ? end.inputs[2 + k] : kNoValue;
    const Rows *const found = rows_of(end.inputs[at_next]), *const first = rows_of(before);
    if (found == nullptr && first == nullptr) continue;
    const Rows wanted = previous > 0 && first != nullptr ? *first : *found;
    const bool fits = previous == 0 ||
                      (first != nullptr && may_become(end.inputs[at_next], found, before, wanted));
    if (!fits) {
      refuse_region(end, wanted,
                    cat("result ", k,
                        " has counted rows in one branch; the other must give them "
                        "along the same axis, at most as many, and equal other sizes"));
      return {};
    }
    const std::int64_t fixed = (*graph_.value(end.inputs[at_next]).shape)[wanted.axis];
    const std::int64_t own = found != nullptr ? std::int64_t{found->source} : -2 - fixed;
    ValueId count = kNoValue;
    end.inputs[at_next] = filled(parts, end.inputs[at_next], found, wanted, count);
    if (previous > 0) end.inputs.insert(at(end.inputs, 2 + previous + more), wanted.count);
    end.inputs.push_back(count);
    ++more;
    end.outputs.push_back(parts.new_value());
    Rows given = wanted;
    given.count = end.outputs.back();
    given.source = alike.try_emplace({wanted.source, own}, given.count).first->second;
    given.region = open_region(end.inputs[0]);
    mark(end.outputs[k], given.axis, given);
  }
  const auto added = static_cast<std::int64_t>(more);
  std::get<std::int64_t>(end.attributes.at("carried")) += added;
  if (previous > 0) std::get<std::int64_t>(end.attributes.at("previous")) += added;
  std::vector<Node> out = parts.take_parts();
  out.push_back(std::move(end));
  return out;
}

std::vector<Node> CountedRows::leave(const Node& end) {
  if (end.attributes.contains("when")) return leave_branch(end);
  return leave_loop(end) ? std::vector<Node>{end} : std::vector<Node>{};
}

}  // namespace etch
