// Grids of taps; see tap_grids.h.
#include "compiler/kernels/conv/tap_grids.h"

#include <algorithm>

namespace etch {

namespace {

// Taps of output position `o` that are on the image.
TapRange range_at(const ConvAxis& axis, std::int64_t o) {
  TapRange range{static_cast<int>(axis.kernel), 0};
  for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
    const std::int64_t input = o * axis.stride + tap * axis.dilation - axis.pad_begin;
    if (input < 0 || input >= axis.in) continue;
    range.first = std::min(range.first, static_cast<int>(tap));
    range.end = static_cast<int>(tap) + 1;
  }
  return range;
}

// Ranges only ever move towards lower taps, so equal ones are neighbours.
TapAxis make_axis(const GridAxis& from) {
  TapAxis out;
  out.taps = static_cast<int>(from.axis.kernel);
  out.x_step = from.axis.dilation * from.x_stride;
  for (std::int64_t o = 0; o < from.axis.out; ++o) {
    const TapRange range = range_at(from.axis, o);
    if (out.kinds.empty() || !(out.kinds.back() == range)) out.kinds.push_back(range);
    out.kind.push_back(static_cast<int>(out.kinds.size()) - 1);
  }
  return out;
}

bool is_whole(const TapAxis& axis) {
  return axis.kinds.size() == 1 && axis.kinds.front() == TapRange{0, axis.taps};
}

bool has_empty(const TapAxis& axis) {
  return std::any_of(axis.kinds.begin(), axis.kinds.end(),
                     [](const TapRange& range) { return range.first >= range.end; });
}

}  // namespace

std::optional<TapGrid> make_tap_grid(const ConvGeometry& geometry, const GridAxis& rows,
                                     const GridAxis& cols, std::int64_t channel_stride) {
  if (geometry.direction != ConvDirection::kForward || channel_stride != 1) return std::nullopt;
  if (geometry.in_per_group() % 4 != 0) return std::nullopt;
  TapGrid grid;
  grid.rows = make_axis(rows);
  grid.cols = make_axis(cols);
  grid.groups = static_cast<int>(geometry.in_per_group() / 4);
  if (is_whole(grid.rows) && is_whole(grid.cols)) return std::nullopt;
  if (has_empty(grid.rows) || has_empty(grid.cols)) return std::nullopt;
  return grid;
}

std::vector<std::vector<int>> tap_sets(const TapGrid& grid) {
  std::vector<std::vector<int>> out;
  for (const TapRange& rows : grid.rows.kinds) {
    for (const TapRange& cols : grid.cols.kinds) {
      std::vector<int> taps;
      for (int h = rows.first; h < rows.end; ++h) {
        for (int w = cols.first; w < cols.end; ++w) taps.push_back(h * grid.cols.taps + w);
      }
      out.push_back(std::move(taps));
    }
  }
  return out;
}

}  // namespace etch
