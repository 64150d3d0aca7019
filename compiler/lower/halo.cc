// Halo runs: in memory order, the parts before and after each dimension's extent. The end of one
// row and the beginning of the next are contiguous and are filled together.
#include "compiler/lower/halo.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "compiler/base/check.h"

namespace etch {

bool has_halo(const View& view) {
  const auto positive = [](std::int64_t n) { return n > 0; };
  return std::any_of(view.halo_begin.begin(), view.halo_begin.end(), positive) ||
         std::any_of(view.halo_end.begin(), view.halo_end.end(), positive);
}

View part_with_halo(const View& whole, const std::vector<std::int64_t>& start, const Shape& shape) {
  View part = whole;
  for (std::size_t d = 0; d < shape.size(); ++d) part = part_of(part, d, start[d], shape[d]);
  if (!has_halo(whole) || whole.halo_source >= 0) return part;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (start[d] == 0) part.halo_begin[d] = whole.halo_begin[d];
    if (start[d] + shape[d] == whole.shape[d]) part.halo_end[d] = whole.halo_end[d];
  }
  return part;
}

namespace {
// Repeats `run` over the dimensions outside of position `level` of `order`.
void push(FillPlan& plan, const View& view, const std::vector<std::size_t>& order,
          std::size_t level, FillRun run, std::int64_t first, std::int64_t count) {
  if (run.n <= 0 || count <= 0) return;
  std::size_t slot = 3;
  for (std::size_t i = level; i-- > 0;) {
    const std::size_t d = order[i];
    const bool innermost = i + 1 == level;
    const std::int64_t repeat = innermost ? count : view.shape[d];
    if (innermost) run.offset += first * view.stride[d];
    if (repeat == 1) continue;
    ETCH_CHECK(slot > 0);
    --slot;
    run.repeat[slot] = static_cast<int>(repeat);
    run.step[slot] = view.stride[d];
  }
  plan.runs.push_back(run);
}
}  // namespace

FillPlan plan_fill(const View& view, int value) {
  FillPlan plan;
  plan.value = value;
  std::vector<std::size_t> order(view.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return view.stride[a] > view.stride[b]; });
  std::int64_t lead = 0;  // bytes of inner halos before element 0 of the inner dimensions
  for (std::size_t level = order.size(); level-- > 0;) {
    const std::size_t d = order[level];
    const std::int64_t before = view.halo_begin[d] * view.stride[d];
    const std::int64_t after = view.halo_end[d] * view.stride[d];
    const std::int64_t end = view.shape[d] * view.stride[d];
    const std::int64_t outer = level > 0 ? view.shape[order[level - 1]] : 1;
    FillRun run;
    run.offset = -before - lead;
    run.n = static_cast<int>(before);
    push(plan, view, order, level, run, 0, level > 0 && after > 0 ? 1 : outer);
    run.offset = end - lead;
    run.n = static_cast<int>(after + before);
    if (after > 0) push(plan, view, order, level, run, 0, level > 0 ? outer - 1 : 0);
    run.n = static_cast<int>(after);
    if (after > 0) push(plan, view, order, level, run, level > 0 ? outer - 1 : 0, 1);
    lead += before;
  }
  return plan;
}

}  // namespace etch
