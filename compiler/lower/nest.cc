// Building of loop nests; see nest.h.
#include "compiler/lower/nest.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "compiler/base/check.h"

namespace etch {

namespace {
constexpr std::size_t kOut = kNestOperands - 1;

std::vector<NestAxis> axes_of(std::span<const View* const> views) {
  std::vector<NestAxis> axes;
  const View& out = *views.back();
  for (std::size_t d = 0; d < out.shape.size(); ++d) {
    if (out.shape[d] == 1) continue;
    NestAxis axis;
    axis.count = static_cast<int>(out.shape[d]);
    for (std::size_t v = 0; v < views.size(); ++v) {
      const std::size_t operand = v + 1 == views.size() ? kOut : v;
      axis.step[operand] = views[v]->stride[d] / bytes_of(views[v]->dtype);
    }
    axes.push_back(axis);
  }
  std::stable_sort(axes.begin(), axes.end(), [](const NestAxis& a, const NestAxis& b) {
    return a.step[kOut] > b.step[kOut];
  });
  return axes;
}

bool inputs_dense(const NestAxis& axis, std::size_t inputs) {
  return std::all_of(axis.step, axis.step + inputs, [](std::int64_t step) { return step == 1; });
}

// Dense in the output and in one input at least, while others stay where they are.
bool may_repeat(const NestAxis& axis, std::size_t inputs) {
  const auto dense = std::count(axis.step, axis.step + inputs, 1);
  const auto still = std::count(axis.step, axis.step + inputs, 0);
  return axis.step[kOut] == 1 && dense > 0 && dense + still == static_cast<std::ptrdiff_t>(inputs);
}

// The axis to run along: dense everywhere if there is one, else with repeated elements, else dense
// in the inputs.
std::size_t run_axis(const std::vector<NestAxis>& axes, std::size_t inputs, Repeats repeats) {
  std::size_t found = axes.size();
  if (repeats == Repeats::kAllowed) {
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (may_repeat(axes[a], inputs)) return a;
    }
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (!inputs_dense(axes[a], inputs)) continue;
    if (axes[a].step[kOut] == 1) return a;
    found = a;
  }
  return found;
}

bool follows(const NestAxis& outer, const NestAxis& inner) {
  for (std::size_t o = 0; o < kNestOperands; ++o) {
    if (outer.step[o] != inner.step[o] * inner.count) return false;
  }
  return true;
}

std::vector<NestAxis> merged(const std::vector<NestAxis>& axes) {
  std::vector<NestAxis> out;
  for (const NestAxis& axis : axes) {
    if (!out.empty() && follows(out.back(), axis)) {
      const int count = out.back().count * axis.count;
      out.back() = axis;
      out.back().count = count;
    } else {
      out.push_back(axis);
    }
  }
  return out;
}
}  // namespace

Nest make_nest(std::span<const View* const> views, Repeats repeats) {
  const std::size_t inputs = views.size() - 1;
  // Once before the run is taken out from between its neighbours, and once after.
  std::vector<NestAxis> axes = merged(axes_of(views));
  const std::size_t run = run_axis(axes, inputs, repeats);
  Nest nest;
  if (run < axes.size()) {
    std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(run),
                axes.begin() + static_cast<std::ptrdiff_t>(run) + 1, axes.end());
    axes = merged(axes);
    nest.run = axes.back().count;
    nest.out_step = axes.back().step[kOut];
    for (std::size_t o = 0; o < inputs; ++o) nest.repeats[o] = axes.back().step[o] == 0;
    axes.pop_back();
  } else {
    axes = merged(axes);
  }
  nest.axes = std::move(axes);
  return nest;
}

void interleave_planes(Nest& nest) {
  constexpr std::int64_t kMostPlanes = 4;
  if (nest.axes.empty() || nest.run < 2) return;
  const NestAxis planes = nest.axes.back();
  const bool side_by_side = planes.step[kOut] == 1 && planes.count == nest.out_step;
  if (!side_by_side || planes.count < 2 || planes.count > kMostPlanes) return;
  nest.axes.pop_back();
  nest.planes = planes.count;
  nest.plane_step = planes.step[0];
  if (nest.axes.empty()) return;
  const NestAxis& rows = nest.axes.back();
  if (rows.step[0] == nest.run && rows.step[kOut] == nest.run * nest.out_step) {
    nest.run *= rows.count;
    nest.axes.pop_back();
  }
}

View as_bytes(const View& view) {
  View out = view;
  if (bytes_of(view.dtype) == 1) return out;
  out.shape.push_back(bytes_of(view.dtype));
  out.stride.push_back(1);
  out.dtype = DType::kU8;
  return out;
}

CopyPlan make_copy(const View& from, const View& to) {
  const View x = as_bytes(from);
  const View y = as_bytes(to);
  const View* const views[] = {&x, &y};
  CopyPlan plan;
  plan.nest = make_nest(views);
  const auto signed_now = [](const View& v) { return v.dtype == DType::kS8; };
  if (signed_now(from) != signed_now(to)) plan.flip = 128;
  return plan;
}

namespace {

// Where the runs of a nest start in its input and its output, in the order of the loops.
std::vector<std::pair<std::int64_t, std::int64_t>> run_starts(const Nest& nest) {
  std::vector<std::pair<std::int64_t, std::int64_t>> starts{{nest.offset[0], nest.offset[kOut]}};
  for (const NestAxis& axis : nest.axes) {
    std::vector<std::pair<std::int64_t, std::int64_t>> next;
    for (const auto& [r, w] : starts) {
      for (int i = 0; i < axis.count; ++i)
        next.emplace_back(r + i * axis.step[0], w + i * axis.step[kOut]);
    }
    starts = std::move(next);
  }
  return starts;
}

}  // namespace

std::optional<Overlap> copy_from_the_end(CopyPlan& plan, const View& from, const View& to) {
  Nest& nest = plan.nest;
  if (nest.planes > 1 || nest.out_step != 1 || plan.flip != 0 || plan.x_is_constant) return {};
  // Of each run: after what has to be read after it, its own first piece included.
  std::int64_t unread = std::numeric_limits<std::int64_t>::min();
  std::int64_t distance = unread;
  for (const auto& [read, written] : run_starts(nest)) {
    unread = std::max(unread, read);
    distance = std::max(distance, unread - written);
    unread = std::max(unread, read + nest.run);
  }
  for (NestAxis& axis : nest.axes) {
    for (const std::size_t o : {std::size_t{0}, kOut}) {
      nest.offset[o] += (axis.count - 1) * axis.step[o];
      axis.step[o] = -axis.step[o];
    }
  }
  plan.backwards = true;
  return Overlap{1, 0, distance + from.offset - to.offset, true};
}

Overlap nest_overlap(const Nest& nest, int nest_operand, const View& input, const View& output,
                     int input_operand, int output_operand) {
  // Positions in the order of the loops; written so far must not pass what is still to be read.
  const auto in = static_cast<std::size_t>(nest_operand);
  const std::int64_t in_bytes = bytes_of(input.dtype);
  const std::int64_t out_bytes = bytes_of(output.dtype);
  std::vector<std::pair<std::int64_t, std::int64_t>> starts{{0, 0}};
  for (const NestAxis& axis : nest.axes) {
    std::vector<std::pair<std::int64_t, std::int64_t>> next;
    for (const auto& [r, w] : starts) {
      for (int i = 0; i < axis.count; ++i)
        next.emplace_back(r + i * axis.step[in] * in_bytes, w + i * axis.step[kOut] * out_bytes);
    }
    starts = std::move(next);
  }
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  std::int64_t distance = kNone;
  std::int64_t needed = std::numeric_limits<std::int64_t>::max();
  // Within a run of equal element size the chunk that is written has just been read.
  const bool lockstep = in_bytes == out_bytes && nest.out_step == 1 && !nest.repeats[in];
  for (auto it = starts.rbegin(); it != starts.rend(); ++it) {
    const std::int64_t written = it->second + ((nest.run - 1) * nest.out_step + 1) * out_bytes;
    if (!lockstep) needed = std::min(needed, it->first);
    if (needed != std::numeric_limits<std::int64_t>::max())
      distance = std::max(distance, written - needed);
    if (lockstep) {
      distance = std::max(distance, it->second - it->first);
      needed = std::min(needed, it->first);
    }
  }
  return {output_operand, input_operand, distance + output.offset - input.offset};
}

}  // namespace etch
