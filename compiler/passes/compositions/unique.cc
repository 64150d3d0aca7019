// Unique of a constant. Of values of run time it has as many rows as they say
// (passes/counted_rows.h).
#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include "compiler/ir/geometry/strided.h"
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

struct Groups {
  Ints first;    // of each group the least slice, in the order of the result
  Ints inverse;  // the group of each slice
  Ints sizes;
};

// NaN, of which each is a value of its own, is after all numbers: else equal ones would be apart.
template <class T>
bool is_before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

// Of n slices, the rows of x.
template <class T>
Groups groups_of(const Tensor& x, std::int64_t n, bool sorted) {
  const auto elements = x.as<T>();
  const std::size_t each = elements.size() / as_index(n);
  const auto row = [&](std::int64_t i) { return elements.subspan(as_index(i) * each, each); };
  Ints order = count_up(as_index(n));
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return std::ranges::lexicographical_compare(row(a), row(b), is_before<T>);
  });
  std::vector<Ints> groups;
  for (const std::int64_t i : order) {
    if (groups.empty() || !std::ranges::equal(row(groups.back().front()), row(i)))
      groups.emplace_back();
    groups.back().push_back(i);
  }
  if (!sorted) std::ranges::sort(groups, {}, [](const Ints& group) { return group.front(); });
  Groups out;
  out.inverse.resize(as_index(n));
  for (const Ints& group : groups) {
    for (const std::int64_t i : group)
      out.inverse[as_index(i)] = static_cast<std::int64_t>(out.first.size());
    out.first.push_back(group.front());
    out.sizes.push_back(static_cast<std::int64_t>(group.size()));
  }
  return out;
}

Groups groups_of(const Tensor& x, std::int64_t n, bool sorted) {
  switch (x.dtype()) {
    case DType::kF32:
      return groups_of<float>(x, n, sorted);
    case DType::kS64:
      return groups_of<std::int64_t>(x, n, sorted);
    case DType::kS32:
      return groups_of<std::int32_t>(x, n, sorted);
    case DType::kS8:
      return groups_of<std::int8_t>(x, n, sorted);
    default:
      return groups_of<std::uint8_t>(x, n, sorted);
  }
}

// The slices of x along an axis as rows.
Tensor rows_of(const Tensor& x, std::int64_t axis) {
  Shape shape = x.shape();
  StridedView view{0, dense_strides(shape)};
  const auto front = [&](auto& list) {
    std::rotate(list.begin(), list.begin() + axis, list.begin() + axis + 1);
  };
  front(shape);
  front(view.strides);
  return copy_of(x, shape, view);
}

}  // namespace

void write_unique(Parts& parts) {
  const bool sorted = parts.take<std::int64_t>("sorted", 1) != 0;
  if (!parts.has_type(0, {DType::kF32, DType::kS32, DType::kS64, DType::kU8, DType::kS8})) return;
  const Tensor* const x = parts.constant(0);
  if (x == nullptr) return parts.needs_constant(0, "X");
  const bool has_axis = parts.has("axis");
  const std::int64_t axis = has_axis ? parts.take_axis("axis", 0, x->shape().size()) : 0;
  if (axis < 0) return;
  const std::int64_t n = has_axis ? x->shape()[as_index(axis)] : x->size();
  if (n == 0 || x->size() == 0) return parts.fail(DiagKind::kShape, "X has no elements");
  const Groups groups = groups_of(has_axis ? rows_of(*x, axis) : *x, n, sorted);
  const ValueId flat = has_axis ? parts.input(0) : parts.reshape(parts.input(0), {n});
  parts.give(0, parts.gather(flat, parts.ints(groups.first), axis));
  const Ints* const others[] = {&groups.first, &groups.inverse, &groups.sizes};
  for (std::size_t i = 1; i < 4; ++i) {
    if (parts.has_output(i)) parts.give(i, parts.add("Identity", {parts.ints(*others[i - 1])}));
  }
}

}  // namespace etch
