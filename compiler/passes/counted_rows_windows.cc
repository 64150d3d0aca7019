// Slices that are equally long in each trip of a loop: x[i : i + k], x[i * k : (i + 1) * k]. Where
// positions are multiples of the trip plus a constant, and no trip is beyond the axis, the number
// of rows is known; see counted_rows.h.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "compiler/ops/op.h"
#include "compiler/ops/region_begin/op.h"
#include "compiler/passes/attributes.h"
#include "compiler/passes/compositions/parts.h"
#include "compiler/passes/counted_rows.h"

namespace etch {

namespace {

constexpr std::int64_t kMostNumber = 1 << 30;  // products with trips stay far from overflow
constexpr int kMostDepth = 8;                  // of the operators that make a position

// factor * root + offset; without a root the offset alone.
struct Multiple {
  ValueId root = kNoValue;
  std::int64_t factor = 0, offset = 0;

  bool is_small() const {
    return std::abs(factor) <= kMostNumber && std::abs(offset) <= kMostNumber;
  }
};

class Numbers {
 public:
  explicit Numbers(const Graph& graph) : graph_(graph), producers_(producers_of(graph)) {}

  const Node* producer(ValueId id) const {
    const auto at = static_cast<std::size_t>(id);
    if (id == kNoValue || at >= producers_.size() || producers_[at] < 0) return nullptr;
    return &graph_.nodes[static_cast<std::size_t>(producers_[at])];
  }

  // What a number of int64 is a multiple of; itself if nothing else is known of it.
  Multiple multiple_of(ValueId id, int depth = 0) const {
    const Value& value = graph_.value(id);
    if (value.constant != nullptr) return {kNoValue, 0, value.constant->integer(0)};
    const Multiple self{id, 1, 0};
    const Node* const node = producer(id);
    const bool is_deep = depth > kMostDepth;
    if (is_deep || node == nullptr || is_region_begin(*node) || !is_number(id)) return self;
    if (is_one_of(node->op_type, {"Identity", "Unsqueeze", "Squeeze", "Reshape"}))
      return is_number(node->inputs[0]) ? multiple_of(node->inputs[0], depth + 1) : self;
    const bool is_known = is_one_of(node->op_type, {"Add", "Sub", "Mul"}) && node->domain.empty() &&
                          node->inputs.size() == 2 && is_number(node->inputs[0]) &&
                          is_number(node->inputs[1]);
    if (!is_known) return self;
    const Multiple a = multiple_of(node->inputs[0], depth + 1);
    const Multiple b = multiple_of(node->inputs[1], depth + 1);
    const bool is_product = node->op_type == "Mul";
    const bool fits = a.is_small() && b.is_small() &&
                      (b.root == kNoValue || (node->op_type != "Sub" && a.root == kNoValue));
    if (!fits) return self;
    const std::int64_t sign = node->op_type == "Sub" ? -1 : 1;
    const Multiple& with = b.root == kNoValue ? a : b;
    const Multiple& by = b.root == kNoValue ? b : a;
    if (is_product) return {with.root, with.factor * by.offset, with.offset * by.offset};
    return {with.root, with.factor, with.offset + sign * by.offset};
  }

  // How many trips the loop makes at most that `id` counts; 0: it counts none, or they are unknown.
  std::int64_t trips_of(ValueId id) const {
    const Node* const begin = producer(id);
    if (begin == nullptr || !is_region_begin(*begin) || begin->outputs[0] != id) return 0;
    const std::int64_t slices = params_of<RegionBegin>(*begin).slices;
    if (slices >= 0) return slices;
    const ValueId count = begin->inputs[0];
    if (count == kNoValue || graph_.value(count).constant == nullptr) return 0;
    return graph_.value(count).constant->integer(0);
  }

 private:
  bool is_number(ValueId id) const {
    const Value& value = graph_.value(id);
    return id != kNoValue && value.dtype == DType::kS64 && element_count(*value.shape) == 1;
  }

  const Graph& graph_;
  std::vector<int> producers_;
};

}  // namespace

// Whether `id` is the trip of a loop with one for each of these rows: a row that counts.
bool CountedRows::is_row_of_trip(ValueId id, const Rows& rows) const {
  const auto is_of_them = [&](const auto& each) { return each.second.source == rows.source; };
  if (std::ranges::none_of(trips_, is_of_them)) return false;
  const Multiple at = Numbers(graph_).multiple_of(id);
  const auto found = trips_.find(at.root);
  return found != trips_.end() && is_of_them(*found) && at.factor == 1 && at.offset == 0;
}

std::int64_t CountedRows::fixed_window(const Node& node, std::int64_t size) const {
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (size_of(node.inputs[i]) != nullptr) return 0;
  }
  if (open_region() == kNoValue) return 0;
  const Numbers numbers(graph_);
  const Multiple begin = numbers.multiple_of(node.inputs[1]);
  const Multiple end = numbers.multiple_of(node.inputs[2]);
  if (begin.root == kNoValue || begin.root != end.root || begin.factor != end.factor) return 0;
  if (!begin.is_small() || !end.is_small() || begin.factor < 0 || begin.offset < 0) return 0;
  const std::int64_t trips = numbers.trips_of(begin.root);
  if (trips < 1 || trips > kMostNumber) return 0;
  const bool inside = begin.factor * (trips - 1) + end.offset <= size;
  return inside ? std::max<std::int64_t>(end.offset - begin.offset, 0) : 0;
}

}  // namespace etch
