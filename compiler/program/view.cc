// Views of memory; see view.h.
#include "compiler/program/view.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/check.h"

namespace etch {

Order row_major(int rank) {
  Order order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order channels_last(int rank) {
  Order order = row_major(rank);
  if (rank >= 3) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

namespace {
// Strides that `order` gives; with gaps, rows may be further apart, elements may not.
bool strides_match(const View& view, const Order& order, bool allow_gaps) {
  std::int64_t expected = bytes_of(view.dtype);
  bool innermost = true;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto d = static_cast<std::size_t>(*it);
    if (view.shape[d] == 1) continue;
    const bool may_be_more = allow_gaps && !innermost;
    if (may_be_more ? view.stride[d] < expected : view.stride[d] != expected) return false;
    expected = view.stride[d] * view.shape[d];
    innermost = false;
  }
  return true;
}
}  // namespace

bool has_order(const View& view, const Order& order) { return strides_match(view, order, true); }

bool is_contiguous(const View& view, const Order& order) {
  return strides_match(view, order, false);
}

std::int64_t lay_out(View& view, const Order& order) {
  const std::size_t rank = view.shape.size();
  view.halo_begin.resize(rank, 0);
  view.halo_end.resize(rank, 0);
  view.stride.assign(rank, 0);
  std::int64_t bytes = bytes_of(view.dtype);
  view.offset = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto d = static_cast<std::size_t>(*it);
    view.stride[d] = bytes;
    view.offset += view.halo_begin[d] * bytes;
    bytes *= view.shape[d] + view.halo_begin[d] + view.halo_end[d];
  }
  return bytes;
}

View permuted(const View& view, const std::vector<int>& perm) {
  View out = view;
  for (std::size_t i = 0; i < perm.size(); ++i) {
    const auto from = static_cast<std::size_t>(perm[i]);
    out.shape[i] = view.shape[from];
    out.stride[i] = view.stride[from];
    out.halo_begin[i] = view.halo_begin[from];
    out.halo_end[i] = view.halo_end[from];
  }
  return out;
}

View part_of(const View& view, std::size_t axis, std::int64_t start, std::int64_t size) {
  View part = view;
  part.offset += start * view.stride[axis];
  part.shape[axis] = size;
  part.halo_begin.assign(view.shape.size(), 0);
  part.halo_end.assign(view.shape.size(), 0);
  return part;
}

}  // namespace etch
