// See plan.h.
#include "compiler/kernels/conv/depthwise/plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/kernels/conv/pieces.h"

namespace etch {

namespace {

// Planes, rows and columns.
struct Space {
  Axes3 axes;
  std::array<int, 3> kernel;
  int channels = 1;
  bool to_bytes = false;  // what y consists of
};

Space space_of(const ConvProblem& problem) {
  Space out{three_axes(problem),
            {},
            static_cast<int>(problem.geometry.in_channels),
            bytes_of(problem.y.dtype) == 1};
  for (std::size_t a = 0; a < 3; ++a) out.kernel[a] = static_cast<int>(out.axes.axis[a].kernel);
  return out;
}

using Segments3 = std::array<const Segment*, 3>;

// ---- quads ----

// Where the rows of all taps follow each other in the image.
bool has_all_rows(const Space& space, const Segment& row) {
  for (std::size_t i = 1; i < row.taps.size(); ++i) {
    if (row.taps[i].input != row.taps[i - 1].input + 1) return false;
  }
  return std::ssize(row.taps) == space.kernel[1];
}

// The input position that a place of the kernel's axis reads, if there is one.
std::optional<std::int64_t> input_of(const Segment& segment, int taps, int place) {
  for (const SegmentTap& tap : segment.taps) {
    if (tap.kernel == place) return tap.input;
  }
  // The row below all taps, for a second output row: these only ask where all rows are there.
  if (place == taps) return segment.taps.back().input + 1;
  return std::nullopt;
}

// Bytes from x to what a tap reads, if that is on the image or its halo.
std::optional<std::int64_t> offset_of(const Space& space, const Segments3& at,
                                      const TapPlace& place) {
  const std::array<int, 3> kernel = {place.plane, place.row, place.col};
  std::int64_t out = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::optional<std::int64_t> input = input_of(*at[a], space.kernel[a], kernel[a]);
    if (!input) return std::nullopt;
    out += *input * space.axes.x_stride[a];
  }
  return out;
}

// The quads of a pass over `rows` output rows that have a tap on the image.
std::vector<QuadTap> taps_of(const Space& space, const Segments3& at, const PanelTaps& panel,
                             int rows, std::int64_t origin) {
  std::vector<QuadTap> out;
  for (std::size_t q = 0; q < panel.quads.size(); ++q) {
    const PanelQuad& from = panel.quads[q];
    QuadTap quad;
    quad.weights = static_cast<int>(q);
    std::optional<std::int64_t> any;
    for (std::size_t i = 4; i-- > 0;) {
      const bool read = i < from.at.size() && (from.taps[0][i] >= 0 || rows == 2);
      const auto offset = read ? offset_of(space, at, from.at[i]) : std::nullopt;
      quad.on_padding[i] = read && !offset;
      quad.offset[i] = offset ? *offset - origin : 0;
      if (offset) any = quad.offset[i];
    }
    if (!any) continue;
    for (std::size_t i = 0; i < 4; ++i) {
      const bool read = i < from.at.size() && (from.taps[0][i] >= 0 || rows == 2);
      if (!read) quad.offset[i] = *any;
    }
    for (std::size_t r = 0; r < 2; ++r) quad.places[r] = from.places[r];
    out.push_back(quad);
  }
  return out;
}

// ---- runs of chunks ----

// Whether composing chunks from pieces of pixels saves more than it costs. Pieces of odd sizes take
// masked loads, and every chunk of a period has code of its own.
bool composes(const Space& space, const IsaTraits& isa, std::int64_t bytes, std::size_t quads) {
  constexpr std::int64_t kMostChunks = 9, kMostPieces = 1200;
  const int full = isa.byte_lanes();
  if (isa.lanes < 4 || (isa.lanes < 16 && space.channels % 4 != 0)) return false;
  const std::int64_t chunks =
      std::min<std::int64_t>(std::lcm(space.channels, full) / full, ceil_div(bytes, full));
  const std::int64_t pieces = ceil_div(full, space.channels) + 1;
  return chunks <= kMostChunks &&
         chunks * pieces * 3 * static_cast<std::int64_t>(quads) <= kMostPieces;
}

// Whether the weights of a flat row, which repeat only after whole pixels and whole chunks, stay
// small.
bool repeats_soon(const Space& space, const IsaTraits& isa, std::int64_t bytes) {
  constexpr std::int64_t kMostPixels = 8, kMostLanes = 256;
  const int full = isa.byte_lanes();
  const std::int64_t lanes =
      std::min<std::int64_t>(std::lcm(space.channels, full), ceil_div(bytes, full) * full);
  return lanes <= std::max(kMostPixels * space.channels, kMostLanes);
}

// Whether pixels that are not next to each other in y are stored out of one chunk: whole ones, each
// at once.
bool stores_apart(const Space& space, const IsaTraits& isa) {
  return space.to_bytes && space.channels % 8 == 0 && isa.byte_lanes() % space.channels == 0;
}

// Whether a row is one flat run of chunks, where their inputs are, and what is done at once.
DepthwiseRegion with_runs(DepthwiseRegion region, const Space& space, const IsaTraits& isa,
                          const Segment& col) {
  const int full = isa.byte_lanes();
  const int channels = space.channels;
  const std::int64_t x_pixel = col.advance * space.axes.x_stride[2];
  const std::int64_t bytes = col.count * channels;
  const std::int64_t y_pixel = col.step * space.axes.y_stride[2];
  const bool in_a_row = y_pixel == channels && repeats_soon(space, isa, bytes);
  const bool whole = x_pixel == channels || channels % full == 0;
  const bool composed = in_a_row && !whole && composes(space, isa, bytes, region.taps.size());
  const bool apart = !in_a_row && whole && stores_apart(space, isa);
  const bool flat = (in_a_row && (whole || composed)) || apart;
  region.cols = flat ? 1 : static_cast<int>(col.count);
  region.x_col = flat ? 0 : x_pixel;
  region.y_col = flat ? 0 : y_pixel;
  region.bytes = flat ? static_cast<int>(bytes) : channels;
  const int chunks = region.bytes / full;
  const int pixels = flat ? std::lcm(channels, full) / channels : 0;  // per period
  region.period = flat ? pixels * channels / full : chunks + 1;
  region.x_period = pixels * x_pixel;
  if (region.period > chunks) region.period = chunks + 1;
  region.y_period = apart ? pixels * y_pixel : std::int64_t{region.period} * full;
  if (apart) {
    region.apart = channels;
    region.y_apart = y_pixel;
  }
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

// The lowest position that the first output of a segment reads.
std::int64_t first_input(const Segment& segment) {
  return std::ranges::min(segment.taps, {}, &SegmentTap::input).input;
}

// Where the pixels of a region are.
DepthwiseRegion place_of(const Space& space, const Segments3& at) {
  DepthwiseRegion region;
  region.planes = static_cast<int>(at[0]->count);
  region.rows = static_cast<int>(at[1]->count);
  const bool has_taps = std::ranges::none_of(at, [](const Segment* s) { return s->taps.empty(); });
  for (std::size_t a = 0; a < 3; ++a) {
    region.y_offset += at[a]->first * space.axes.y_stride[a];
    if (has_taps) region.x_offset += first_input(*at[a]) * space.axes.x_stride[a];
  }
  region.x_plane = at[0]->advance * space.axes.x_stride[0];
  region.y_plane = at[0]->step * space.axes.y_stride[0];
  region.x_row = at[1]->advance * space.axes.x_stride[1];
  region.y_row = at[1]->step * space.axes.y_stride[1];
  return region;
}

// Pairs of rows take each vector of weights twice, which plain C++ gains little from.
bool takes_pairs(const Space& space, const IsaTraits& isa, const Segment& row) {
  const auto taps = std::ssize(row.taps);
  return isa.objective != Objective::kSize && isa.lanes > 1 && isa.accumulators >= 8 &&
         row.advance == 1 && row.count > 1 && taps >= 2 && taps <= 3 && has_all_rows(space, row);
}

void add_region(const Space& space, const IsaTraits& isa, const Segments3& at,
                PlannedDepthwise& out) {
  DepthwiseRegion region = place_of(space, at);
  const bool pair = takes_pairs(space, isa, *at[1]);
  region.rows_together = pair ? 2 : 1;
  PanelTaps& panel = pair ? out.pair : out.single;
  if (panel.quads.empty()) panel = panel_taps(space.kernel, region.rows_together);
  region.taps = taps_of(space, at, panel, region.rows_together, region.x_offset);
  if (pair && region.rows % 2 != 0)
    region.taps_single = taps_of(space, at, panel, 1, region.x_offset);
  region = with_runs(std::move(region), space, isa, *at[2]);
  const std::int64_t chunks = ceil_div(region.bytes, isa.byte_lanes());
  out.phases =
      std::max(out.phases, static_cast<int>(std::min<std::int64_t>(region.period, chunks)));
  std::vector<int>& taps = out.taps.emplace_back();
  for (const SegmentTap& d : at[0]->taps) {
    for (const SegmentTap& h : at[1]->taps) {
      for (const SegmentTap& w : at[2]->taps)
        taps.push_back((d.kernel * space.kernel[1] + h.kernel) * space.kernel[2] + w.kernel);
    }
  }
  out.plan.regions.push_back(std::move(region));
}

// Whether dot4_moved may multiply all weights of a panel.
bool fits_moved(const ConvProblem& problem, const IsaTraits& isa, const PlannedDepthwise& conv,
                const PanelTaps& panel) {
  for (const PanelQuad& quad : panel.quads) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(panel.rows); ++r) {
      for (std::size_t m = 0; m < conv.shifts.size(); ++m) {
        std::array<int, 4> w{};
        for (std::size_t i = 0; i < 4; ++i) {
          const int tap = quad.taps[r][i];
          if (tap >= 0)
            w[i] = problem.weight(static_cast<std::int64_t>(m), tap, 0) - conv.shifts[m];
        }
        if (!fits_in_pairs(isa, w[0], w[1], w[2], w[3])) return false;
      }
    }
  }
  // What is common to a channel's weights takes more than one place.
  return std::ranges::none_of(conv.shifts, [&](int d) {
    return !fits_in_pairs(isa, part_of_shift(d, 0), 0, part_of_shift(d, 0), 0) ||
           !fits_in_pairs(isa, part_of_shift(d, 1), 0, part_of_shift(d, 1), 0);
  });
}

}  // namespace

std::optional<PlannedDepthwise> plan_depthwise(const ConvProblem& problem, const IsaTraits& isa) {
  const Space space = space_of(problem);
  PlannedDepthwise out;
  out.proof = prove_range(problem, isa);
  out.shifts = weight_shifts(problem, isa);
  out.plan.parts = shift_parts(out.shifts);
  out.plan.out = out.proof.out;
  out.plan.images = static_cast<int>(problem.geometry.batch);
  out.plan.x_image = problem.x.stride[0];
  out.plan.y_image = problem.y.stride[0] / bytes_of(problem.y.dtype);
  std::array<std::vector<Segment>, 3> segments;
  for (std::size_t a = 0; a < 3; ++a) {
    segments[a] = plan_segments(space.axes.axis[a], problem.geometry.direction,
                                space.axes.halo_begin[a], space.axes.halo_end[a]);
  }
  for (const Segment& plane : segments[0]) {
    for (const Segment& row : segments[1]) {
      for (const Segment& col : segments[2]) add_region(space, isa, {&plane, &row, &col}, out);
    }
  }
  const bool reads_x = std::ranges::any_of(
      out.plan.regions, [](const DepthwiseRegion& region) { return !region.taps.empty(); });
  if (!reads_x) return std::nullopt;
  if (fits_moved(problem, isa, out, out.single) && fits_moved(problem, isa, out, out.pair))
    out.plan.moved = static_cast<std::uint8_t>(isa.moved);
  return out;
}

}  // namespace etch
