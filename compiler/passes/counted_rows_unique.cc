// Unique of run-time values: each group of equal slices is a row; see counted_rows.h.
//   sorted slices s, which are those at p    first[i] = s[i] differs from s[i - 1]
//   Y = s where it is first                  group[i] = how many are first up to i, minus 1
//   indices = p there, the least of a group  inverse_indices[p[i]] = group[i]
// In order of occurrence the groups are sorted by their index once more.
#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/passes/compositions/indices.h"
#include "compiler/passes/compositions/parts.h"
#include "compiler/passes/counted_rows.h"

namespace etch {

namespace {

// Comparisons of each slice with each other one.
constexpr std::int64_t kMostPairs = 1 << 20;

// The positions of [n, m] in the order of its rows, equal ones as they are: [n]. Rows are compared
// by their first elements that differ; NaN is after all numbers, else equal rows would be apart.
ValueId order_of_rows(Parts& parts, ValueId x, DType type, std::int64_t n, std::int64_t m) {
  const Shape by_row = {n, 1, m}, by_column = {1, n, m};
  const auto comparison = [&](const char* name, ValueId of) {
    const ValueId left = parts.reshape(of, by_row), right = parts.reshape(of, by_column);
    return parts.cast(parts.add(name, {left, right}), DType::kS64);
  };
  ValueId less = comparison("Less", x), greater = comparison("Greater", x);
  if (type == DType::kF32) {
    const ValueId is_number = parts.cast(parts.add("Equal", {x, x}), DType::kS64);
    less = parts.add("Add", {less, comparison("Greater", is_number)});
    greater = parts.add("Add", {greater, comparison("Less", is_number)});
  }
  const ValueId differs = parts.add("Add", {less, greater});
  const ValueId before = parts.add("CumSum", {differs, parts.number(DType::kS64, 2)},
                                   {{"exclusive", std::int64_t{1}}});
  const ValueId none = parts.add("Equal", {before, parts.number(DType::kS64, 0)});
  const ValueId sign =
      parts.add("Mul", {parts.add("Sub", {less, greater}), parts.cast(none, DType::kS64)});
  const ValueId order = parts.reduce("ReduceSum", sign, {2}, false);  // 1: row i is before row j
  Ints earlier;  // of rows that are equal the first one is
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) earlier.push_back(i < j ? 1 : 0);
  }
  const ValueId is_equal = parts.add("Equal", {order, parts.number(DType::kS64, 0)});
  const ValueId of_equal =
      parts.add("Mul", {parts.cast(is_equal, DType::kS64), parts.ints({n, n}, earlier)});
  const ValueId is_less = parts.add("Equal", {order, parts.number(DType::kS64, 1)});
  const ValueId counted = parts.add("Add", {parts.cast(is_less, DType::kS64), of_equal});
  const ValueId rank = parts.reduce("ReduceSum", counted, {0}, false);  // rows before row j
  const ValueId nothing = parts.constant(Tensor(DType::kS64, {n, 1}));
  const ValueId numbers = parts.positions(DType::kS64, 0, n, {n, 1});
  return parts.reshape(scattered(parts, DType::kS64, nothing, rank, numbers, "none"), {n});
}

// The positions of x [n] in ascending order, equal elements as they are.
ValueId ascending(Parts& parts, ValueId x, std::int64_t n) {
  Node sort;
  sort.op_type = "TopK";
  sort.inputs = {x, parts.ints({n})};
  sort.outputs = {parts.new_value(), parts.new_value()};
  sort.attributes = {{"largest", std::int64_t{0}}, {"axis", std::int64_t{0}}};
  const ValueId out = sort.outputs[1];
  parts.add(std::move(sort));
  return out;
}

// values[k] at places[k] of n: [n]
ValueId placed(Parts& parts, ValueId places, ValueId values, std::int64_t n,
               const char* reduction = "none") {
  const ValueId nothing = parts.constant(Tensor(DType::kS64, {n, 1}));
  const ValueId rows = parts.reshape(values, {n, 1});
  return parts.reshape(scattered(parts, DType::kS64, nothing, places, rows, reduction), {n});
}

}  // namespace

void CountedRows::make_unique(Parts& parts, const Node& node) {
  const bool is_sorted = parts.take<std::int64_t>("sorted", 1) != 0;
  if (!parts.has_type(0, {DType::kF32, DType::kS32, DType::kS64, DType::kU8, DType::kS8})) return;
  const Shape from = shape(node, 0);
  const bool has_axis = parts.has("axis");
  const std::int64_t axis = has_axis ? parts.take_axis("axis", 0, from.size()) : 0;
  if (axis < 0) return;
  const std::int64_t n = has_axis ? from[static_cast<std::size_t>(axis)] : element_count(from);
  const std::int64_t each = element_count(from) / n;
  if (!has_few_rows(parts, n)) return;
  if (each > 1 && !has_at_most({n, n, each}, kMostPairs))
    return parts.fail(DiagKind::kLimit, cat("compares ", n, " slices of ", each,
                                            " elements with each other; more than ", kMostPairs,
                                            " comparisons cannot be compiled"));
  // Slices as rows.
  Ints perm = count_up(has_axis ? from.size() : 0);
  std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + (has_axis ? 1 : 0));
  ValueId flat = has_axis ? parts.transpose(parts.input(0), perm) : parts.input(0);
  flat = parts.reshape(flat, {n, each});
  const ValueId order = each == 1 ? ascending(parts, parts.reshape(flat, {n}), n)
                                  : order_of_rows(parts, flat, parts.dtype(0), n, each);
  const ValueId rows = parts.gather(flat, order, 0);
  ValueId first = parts.constant(Tensor::of<std::int64_t>({1}, {1}));
  if (n > 1) {
    const ValueId same =
        parts.add("Equal", {parts.slice(rows, 0, 1, n), parts.slice(rows, 0, 0, n - 1)});
    const ValueId equal = parts.reduce("ReduceMin", parts.cast(same, DType::kS32), {1}, false);
    const ValueId other =
        parts.add("Sub", {parts.number(DType::kS64, 1), parts.cast(equal, DType::kS64)});
    first = parts.concat({first, other}, 0);
  }
  const ValueId sums = parts.add("CumSum", {first, parts.number(DType::kS64, 0)});
  ValueId group = parts.add("Sub", {sums, parts.number(DType::kS64, 1)});
  const ValueId count = parts.reduce("ReduceSum", first, {0}, false);
  // Where each group begins in the sorted rows; those that do not count begin at row 0.
  const ValueId number = parts.positions(DType::kS64, 0, n, {n});
  ValueId begin = placed(parts, group, parts.add("Mul", {number, first}), n, "max");
  if (!is_sorted) {
    const ValueId found = parts.gather(order, begin, 0);
    const ValueId known = parts.add("Less", {number, count});
    const ValueId key = parts.add("Where", {known, found, parts.number(DType::kS64, n)});
    const ValueId by_index = ascending(parts, key, n);
    begin = parts.gather(begin, by_index, 0);
    group = parts.gather(placed(parts, by_index, number, n), group, 0);
  }
  const Rows made{0, count, n, kNoValue, node.index, location_of(node)};
  const ValueId indices = parts.gather(order, begin, 0);
  Shape moved = from;
  std::rotate(moved.begin(), moved.begin() + axis, moved.begin() + axis + (has_axis ? 1 : 0));
  ValueId y = parts.gather(flat, indices, 0);
  if (!has_axis) {
    y = parts.reshape(y, {n});
  } else {
    Ints back = perm;
    for (std::size_t d = 0; d < perm.size(); ++d)
      back[as_index(perm[d])] = static_cast<std::int64_t>(d);
    y = parts.transpose(parts.reshape(y, moved), back);
  }
  parts.give(0, y);
  mark(node.outputs[0], as_index(axis), made);
  const Rows* const same = rows_of(node.outputs[0]);
  if (parts.has_output(1)) {
    parts.give(1, indices);
    mark(node.outputs[1], 0, Rows(*same));
  }
  if (parts.has_output(2)) parts.give(2, placed(parts, order, group, n));
  if (parts.has_output(3)) {
    const ValueId ones =
        parts.constant(Tensor::of<std::int64_t>({n}, std::vector<std::int64_t>(as_index(n), 1)));
    parts.give(3, placed(parts, group, ones, n, "add"));
    mark(node.outputs[3], 0, Rows(*same));
  }
}

}  // namespace etch
