// See plan.h.
#include "compiler/kernels/conv/depthwise/plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/base/checked.h"

namespace etch {

namespace {

// Rows and columns of a problem with one or two spatial axes.
struct Plane {
  ConvAxis row, col;
  std::int64_t x_row = 0, x_col = 0, y_row = 0, y_col = 0;
  std::int64_t row_halo[2] = {}, col_halo[2] = {};
  int channels = 1;
};

Plane plane_of(const ConvProblem& problem) {
  Plane out;
  const std::size_t rank = problem.geometry.axes.size();
  const std::size_t last = rank + 1;
  out.channels = static_cast<int>(problem.geometry.in_channels);
  out.col = problem.geometry.axes[rank - 1];
  out.x_col = problem.x.stride[last];
  out.y_col = problem.y.stride[last];
  out.col_halo[0] = problem.x.halo_begin[last];
  out.col_halo[1] = problem.x.halo_end[last];
  if (rank == 1) return out;
  out.row = problem.geometry.axes[0];
  out.x_row = problem.x.stride[2];
  out.y_row = problem.y.stride[2];
  out.row_halo[0] = problem.x.halo_begin[2];
  out.row_halo[1] = problem.x.halo_end[2];
  return out;
}

// ---- quads of rows ----

bool contiguous(const Segment& row) {
  for (std::size_t i = 1; i < row.taps.size(); ++i) {
    if (row.taps[i].input != row.taps[i - 1].input + 1) return false;
  }
  return !row.taps.empty();
}

// Image row of position i (beyond the taps: the next rows, for a second output row).
std::int64_t row_at(const Segment& row, int i) {
  const auto last = static_cast<int>(row.taps.size()) - 1;
  const std::int64_t beyond = std::max(0, i - last);
  return row.taps[static_cast<std::size_t>(std::min(i, last))].input + beyond -
         row.taps.front().input;
}

// Image rows that a quad starting at tap `first` covers, relative to the first tap's row.
std::vector<QuadTap> taps_of(const Plane& plane, const Segment& row, const Segment& col, int rows) {
  std::vector<QuadTap> out;
  const auto count = static_cast<int>(row.taps.size()) + rows - 1;
  for (const SegmentTap& tap : col.taps) {
    for (int first = 0; first < count; first += 4) {
      QuadTap quad;
      quad.x_offset = (tap.input - col.taps.front().input) * plane.x_col;
      for (int i = 0; i < 4; ++i)
        quad.row_offset[i] = row_at(row, std::min(first + i, count - 1)) * plane.x_row;
      out.push_back(quad);
    }
  }
  return out;
}

// ---- runs of chunks ----

// Whether composing chunks from pieces of pixels saves more than it costs. Pieces of odd sizes take
// masked loads, and every chunk of a period has code of its own.
bool composes(const Plane& plane, const IsaTraits& isa, std::int64_t bytes, const Segment& row,
              const Segment& col) {
  constexpr std::int64_t kMostChunks = 9, kMostPieces = 1200;
  const int full = isa.byte_lanes();
  if (isa.lanes < 4 || (isa.lanes < 16 && plane.channels % 4 != 0)) return false;
  const std::int64_t chunks =
      std::min<std::int64_t>(std::lcm(plane.channels, full) / full, ceil_div(bytes, full));
  const std::int64_t pieces = ceil_div(full, plane.channels) + 1;
  const auto taps = static_cast<std::int64_t>(row.taps.size() * col.taps.size());
  return chunks <= kMostChunks && chunks * pieces * taps <= kMostPieces;
}

// Whether a row is one flat run of chunks, where their inputs are, and what is done at once.
DepthwiseRegion with_runs(DepthwiseRegion region, const Plane& plane, const IsaTraits& isa,
                          const Segment& row, const Segment& col) {
  const int full = isa.byte_lanes();
  const int channels = plane.channels;
  const std::int64_t x_pixel = col.advance * plane.x_col;
  const std::int64_t bytes = col.count * channels;
  const bool in_a_row = plane.y_col == channels;
  const bool whole = x_pixel == channels || channels % full == 0;
  const bool composed = in_a_row && !whole && composes(plane, isa, bytes, row, col);
  const bool flat = in_a_row && (whole || composed);
  region.cols = flat ? 1 : static_cast<int>(col.count);
  region.x_col = flat ? 0 : x_pixel;
  region.y_col = flat ? 0 : plane.y_col;
  region.bytes = flat ? static_cast<int>(bytes) : channels;
  const int chunks = region.bytes / full;
  const int pixels = flat ? std::lcm(channels, full) / channels : 0;  // per period
  region.period = flat ? pixels * channels / full : chunks + 1;
  region.x_period = pixels * x_pixel;
  if (region.period > chunks) region.period = chunks + 1;
  if (composed) {
    region.piece = channels;
    region.x_piece = x_pixel;
  }
  // Twice the accumulators, for half the loads of weights.
  constexpr int kTogether = 2;
  if (chunks / region.period >= kTogether &&
      4 * kTogether * region.rows_together <= isa.accumulators && isa.lanes == 16)
    region.together = kTogether;
  return region;
}

DepthwiseRegion region_of(const Plane& plane, const IsaTraits& isa, const Segment& row,
                          const Segment& col) {
  DepthwiseRegion region;
  region.rows = static_cast<int>(row.count);
  region.y_offset = row.first * plane.y_row + col.first * plane.y_col;
  region.x_row = row.advance * plane.x_row;
  region.y_row = plane.y_row;
  const bool pair = isa.objective != Objective::kSize && row.advance == 1 && region.rows > 1 &&
                    row.taps.size() <= 3 && contiguous(row);
  region.rows_together = pair ? 2 : 1;
  if (!row.taps.empty() && !col.taps.empty())
    region.x_offset = row.taps.front().input * plane.x_row + col.taps.front().input * plane.x_col;
  region.taps = taps_of(plane, row, col, region.rows_together);
  if (pair && region.rows % 2 != 0) region.taps_single = taps_of(plane, row, col, 1);
  return with_runs(std::move(region), plane, isa, row, col);
}

}  // namespace

std::optional<PlannedDepthwise> plan_depthwise(const ConvProblem& problem, const IsaTraits& isa) {
  const Plane plane = plane_of(problem);
  PlannedDepthwise out;
  out.proof = prove_range(problem, isa);
  out.plan.out = out.proof.out;
  out.plan.images = static_cast<int>(problem.geometry.batch);
  out.plan.x_image = problem.x.stride[0];
  out.plan.y_image = problem.y.stride[0];
  const auto rows =
      plan_segments(plane.row, ConvDirection::kForward, plane.row_halo[0], plane.row_halo[1]);
  const auto cols =
      plan_segments(plane.col, ConvDirection::kForward, plane.col_halo[0], plane.col_halo[1]);
  bool reads_x = false;
  for (const Segment& row : rows) {
    for (const Segment& col : cols) {
      const DepthwiseRegion& region =
          out.plan.regions.emplace_back(region_of(plane, isa, row, col));
      const std::int64_t chunks = ceil_div(region.bytes, isa.byte_lanes());
      out.taps.push_back(
          {row, col, static_cast<int>(std::min<std::int64_t>(region.period, chunks))});
      reads_x = reads_x || !region.taps.empty();
    }
  }
  if (!reads_x) return std::nullopt;
  return out;
}

}  // namespace etch
