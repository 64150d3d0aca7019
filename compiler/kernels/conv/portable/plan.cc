// See plan.h.
#include "compiler/kernels/conv/portable/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/portable/shared_addend.h"
#include "compiler/kernels/conv/portable/sums16.h"
#include "compiler/kernels/conv/regions.h"
#include "compiler/kernels/conv/tap_grids.h"
#include "compiler/kernels/conv/tiles.h"
#include "compiler/kernels/conv/tuning_key.h"
#include "compiler/program/tunable.h"

namespace etch {

int RegionTaps::part_at(std::size_t at) const {
  const auto before =
      std::count_if(part_ends.begin(), part_ends.end(), [&](std::size_t end) { return at >= end; });
  return static_cast<int>(std::min(before, std::ssize(part_ends) - 1));
}

namespace {

using Segments = std::array<std::vector<Segment>, 3>;  // per axis

Segments segments_of(const Axes3& axes, ConvDirection direction) {
  Segments out;
  for (std::size_t a = 0; a < 3; ++a) {
    out[a] = plan_segments(axes.axis[a], direction, axes.halo_begin[a], axes.halo_end[a]);
  }
  return out;
}

// ---- the runs of a region ----

// Whether any output channel has a weight with this part at one of `count` bytes.
bool has_part(const ConvProblem& problem, const WeightParts& parts, int part, const KByte* k,
              std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
      if (parts.of(problem.weight(m, k[i].first, k[i].second), part) != 0) return true;
    }
  }
  return false;
}

// The groups of 4 bytes that have this part: few weights are wider than int8, as a rule.
std::vector<Piece> pieces_of_part(const ConvProblem& problem, const WeightParts& parts, int part,
                                  const std::vector<Piece>& pieces) {
  if (part == 0) return pieces;
  std::vector<Piece> out;
  for (const Piece& piece : pieces) {
    bool last = false;  // whether the group before is there
    for (std::size_t at = 0; at < piece.k.size(); at += 4) {
      const std::size_t count = std::min<std::size_t>(4, piece.k.size() - at);
      const bool here = has_part(problem, parts, part, &piece.k[at], count);
      if (here && !last) out.push_back({piece.offset + static_cast<std::int64_t>(at), {}});
      const auto from = piece.k.begin() + static_cast<std::ptrdiff_t>(at);
      if (here)
        out.back().k.insert(out.back().k.end(), from, from + static_cast<std::ptrdiff_t>(count));
      last = here;
    }
  }
  return out;
}

bool extend(KRun& run, std::int64_t offset, int groups) {
  if (run.groups != groups) return false;
  const std::int64_t step = offset - (run.x_offset + (run.repeat - 1) * run.repeat_step);
  if (run.repeat > 1 && step != run.repeat_step) return false;
  run.repeat_step = step;
  ++run.repeat;
  return true;
}

// The pieces as runs, with offsets from `origin`.
std::vector<KRun> runs_of(const std::vector<Piece>& pieces, std::int64_t origin) {
  std::vector<KRun> runs;
  for (const Piece& piece : pieces) {
    const auto bytes = static_cast<int>(piece.k.size());
    const auto groups = static_cast<int>(ceil_div(std::int64_t{bytes}, 4));
    const std::int64_t offset = piece.offset - origin;
    if (runs.empty() || !extend(runs.back(), offset, groups))
      runs.push_back({offset, 1, 0, groups, bytes});
    runs.back().bytes = std::max(runs.back().bytes, bytes);
  }
  return runs;
}

// ---- regions ----

struct PlannedRegion {
  ConvRegion region;
  RegionTaps taps;
};

// Where the pixels of a region are.
ConvRegion place_of(const Axes3& axes, const Segment* const at[3]) {
  ConvRegion region;
  region.planes = static_cast<int>(at[0]->count);
  region.rows = static_cast<int>(at[1]->count);
  region.cols = static_cast<int>(at[2]->count);
  std::int64_t* const x_step[3] = {&region.x_plane, &region.x_row, &region.x_col};
  std::int64_t* const y_step[3] = {&region.y_plane, &region.y_row, &region.y_col};
  std::int64_t* const r_step[3] = {&region.r_plane, &region.r_row, &region.r_col};
  for (int a = 0; a < 3; ++a) {
    *x_step[a] = at[a]->advance * axes.x_stride[a];
    *y_step[a] = at[a]->step * axes.y_stride[a];
    *r_step[a] = at[a]->step * axes.r_stride[a];
    region.y_offset += at[a]->first * axes.y_stride[a];
    region.r_offset += at[a]->first * axes.r_stride[a];
  }
  return region;
}

PlannedRegion region_of(const ConvProblem& problem, const Axes3& axes, const WeightParts& parts,
                        const Segment* const at[3]) {
  PlannedRegion out{place_of(axes, at), {}};
  const auto channels = static_cast<int>(problem.geometry.in_per_group());
  const std::vector<Piece> pieces = pieces_of(axes, at, channels, problem.x.stride[1]);
  out.region.x_offset = first_byte(pieces);
  std::vector<KByte>& k = out.taps.k;
  for (int part = 0; part < parts.count; ++part) {
    const std::vector<Piece> here = pieces_of_part(problem, parts, part, pieces);
    for (const KRun& run : runs_of(here, out.region.x_offset)) out.region.runs.push_back(run);
    for (const Piece& piece : here) {
      k.insert(k.end(), piece.k.begin(), piece.k.end());
      while (k.size() % 4 != 0) k.emplace_back(-1, 0);
    }
    out.taps.part_ends.push_back(k.size());
  }
  return out;
}

// A transposed convolution may be cropped to positions that no input reaches. Then one group of
// zero weights stands for all taps, so that the step still has weights and reads x.
PlannedRegion with_a_group_of_zeros(PlannedRegion from) {
  from.region.x_plane = from.region.x_row = from.region.x_col = 0;
  from.region.runs.push_back({0, 1, 0, 1, 4});
  from.taps.k.assign(4, {-1, 0});
  return from;
}

// A grid numbers all taps of the kernel.
std::optional<TapGrid> grid_of(const ConvProblem& problem, const Axes3& axes,
                               const Segments& segments) {
  const auto has_all_taps = [&](std::size_t a) {
    return std::ssize(segments[a].front().taps) == axes.axis[a].kernel;
  };
  if (axes.axis[0].kernel != 1 || !has_all_taps(1) || !has_all_taps(2)) return std::nullopt;
  return make_tap_grid(problem.geometry, {axes.axis[1], axes.x_stride[1]},
                       {axes.axis[2], axes.x_stride[2]}, problem.x.stride[1]);
}

// Planes, rows and columns become one row where the memory allows it.
ConvRegion flattened(ConvRegion r) {
  if (r.x_row != r.cols * r.x_col || r.y_row != r.cols * r.y_col || r.r_row != r.cols * r.r_col)
    return r;
  r.cols *= r.rows;
  r.rows = 1;
  r.grid.reset();
  r.x_row = r.planes > 1 ? r.x_plane : 0;
  r.y_row = r.planes > 1 ? r.y_plane : 0;
  r.r_row = r.planes > 1 ? r.r_plane : 0;
  std::swap(r.rows, r.planes);
  return r.rows > 1 ? flattened(std::move(r)) : r;
}

std::vector<PlannedRegion> plan_regions(const ConvProblem& problem, const WeightParts& parts) {
  const Axes3 axes = three_axes(problem);
  const Segments segments = segments_of(axes, problem.geometry.direction);
  std::vector<PlannedRegion> out;
  for (const Segment& d : segments[0]) {
    for (const Segment& h : segments[1]) {
      for (const Segment& w : segments[2]) {
        const Segment* const at[3] = {&d, &h, &w};
        out.push_back(region_of(problem, axes, parts, at));
      }
    }
  }
  const bool reads_x = std::any_of(
      out.begin(), out.end(), [](const PlannedRegion& each) { return !each.region.runs.empty(); });
  if (!reads_x) out.front() = with_a_group_of_zeros(std::move(out.front()));
  if (out.size() == 1 && parts.count == 1)
    out.front().region.grid = grid_of(problem, axes, segments);
  for (PlannedRegion& each : out) each.region = flattened(std::move(each.region));
  return out;
}

// ---- tiles ----

// Whether dot4_lane may multiply all weights; those of run time may be any int8.
bool fits_lanes(const ConvProblem& problem, const IsaTraits& isa, const PlannedConv& conv) {
  if (!isa.weights_in_pairs) return true;
  if (problem.run_time) return false;
  for (const RegionTaps& taps : conv.taps) {
    for (std::size_t k = 0; k < taps.k.size(); k += 4) {
      const int part = taps.part_at(k);
      for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
        std::array<int, 4> w{};
        for (std::size_t i = 0; i < 4; ++i) {
          const auto [tap, c] = taps.k[k + i];
          if (tap >= 0) w[i] = conv.parts.of(problem.weight(m, tap, c), part);
        }
        if (!fits_in_pairs(isa, w[0], w[1], w[2], w[3])) return false;
      }
    }
  }
  return true;
}

// Terms of pixels are found by the column alone.
bool is_one_row(const ConvPlan& plan) {
  const ConvRegion& region = plan.regions.front();
  return plan.axes.empty() && plan.regions.size() == 1 && region.planes == 1 && region.rows == 1;
}

// See widening_pays().
bool reads_bytes(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning) {
  const int shared = problem.shared_addend;
  return widening_pays(problem, isa, tuning) && std::ranges::all_of(problem.weights, [&](int w) {
           return w - shared >= -128 && w - shared <= 127;
         });
}

// The tuning file's, if it names the layer, or those that the cost model prefers.
void choose_schedule(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning,
                     PlannedConv& conv) {
  const auto channels = static_cast<int>(problem.geometry.out_per_group());
  conv.key = tuning_key(problem, conv.parts.count);
  (tuning.for_all_sizes ? choose_common_tiles : choose_tiles)(conv.plan, isa, channels);
  const TuningEntry* const entry = find_tuning(tuning, isa.name, conv.key);
  if (entry == nullptr) return;
  conv.from_file = true;
  if (apply_choice(conv.plan, isa, channels, entry->choice)) return;
  conv.refusal = cat("line ", entry->line, " of the tuning file: with this tile the step ",
                     "would have more than ", kMostUnrolledStatements, " statements");
}

}  // namespace

PlannedConv plan_conv(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning) {
  PlannedConv out;
  out.proof = prove_range(problem, isa);
  out.parts = parts_needed(problem, isa);
  out.plan.out = out.proof.out;
  out.plan.squares = isa.square_products;
  if (problem.residual) {
    out.plan.add = problem.residual->add;
    out.plan.operands.y = 2;
  }
  out.plan.operands = problem.run_time ? problem.run_time->operands : out.plan.operands;
  if (problem.shared_addend != 0) {
    out.plan.operands.row_terms = out.plan.operands.y++;
    out.plan.terms = terms_of_pixels(problem, isa);
  }
  out.plan.axes = loops_around(problem);
  for (PlannedRegion& each : plan_regions(problem, out.parts)) {
    out.plan.regions.push_back(std::move(each.region));
    out.taps.push_back(std::move(each.taps));
  }
  ETCH_CHECK(!out.plan.terms || is_one_row(out.plan));
  out.plan.lanes = isa.lane_products && fits_lanes(problem, isa, out);
  out.plan.sums16 = sums16_pay(problem, isa, tuning, out);
  if (out.plan.sums16) out.plan.regions.front().grid.reset();
  out.plan.bytes = !out.plan.sums16 && reads_bytes(problem, isa, tuning);
  choose_schedule(problem, isa, tuning, out);
  if (out.plan.sums16) plan_second_parts(problem, out);
  return out;
}

}  // namespace etch
