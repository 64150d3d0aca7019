// Memory orders; see memory_order.h.
#include "compiler/lower/memory_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compiler/lower/arguments.h"

namespace etch {

Order memory_order(const View& view) {
  Order common = order_like(view);
  const bool repeats =
      std::ranges::any_of(view.stride, [](std::int64_t step) { return step <= 0; });
  if (has_order(view, common) || repeats) return common;
  Order by_stride = row_major(view.rank());
  std::stable_sort(by_stride.begin(), by_stride.end(), [&](int a, int b) {
    return view.stride[static_cast<std::size_t>(a)] > view.stride[static_cast<std::size_t>(b)];
  });
  return by_stride;
}

}  // namespace etch
