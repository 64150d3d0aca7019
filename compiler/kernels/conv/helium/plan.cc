// See plan.h.
#include "compiler/kernels/conv/helium/plan.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/checked.h"
#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/regions.h"

namespace etch {

namespace {

// ---- where pixels and taps are ----

// Rows that follow each other without a gap are one row.
ConvRegion flattened(ConvRegion r) {
  for (int i = 0; i < 2; ++i) {
    if (r.x_row != r.cols * r.x_col || r.y_row != r.cols * r.y_col || r.r_row != r.cols * r.r_col)
      return r;
    r.cols *= r.rows;
    r.rows = r.planes;
    r.planes = 1;
    r.x_row = r.x_plane;
    r.y_row = r.y_plane;
    r.r_row = r.r_plane;
  }
  return r;
}

ConvRegion region_of(const Axes3& axes, const Segment* const at[3],
                     const std::vector<Piece>& pieces) {
  ConvRegion r;
  r.x_offset = first_byte(pieces);
  r.planes = static_cast<int>(at[0]->count);
  r.rows = static_cast<int>(at[1]->count);
  r.cols = static_cast<int>(at[2]->count);
  r.x_plane = at[0]->advance * axes.x_stride[0];
  r.x_row = at[1]->advance * axes.x_stride[1];
  r.x_col = at[2]->advance * axes.x_stride[2];
  r.y_plane = axes.y_stride[0];
  r.y_row = axes.y_stride[1];
  r.y_col = axes.y_stride[2];
  r.r_plane = axes.r_stride[0];
  r.r_row = axes.r_stride[1];
  r.r_col = axes.r_stride[2];
  return flattened(r);
}

struct Place {
  ConvRegion region;
  std::vector<Piece> pieces;
};

// Nothing where some pixels lack taps.
std::optional<Place> place_of(const ConvProblem& problem) {
  const Axes3 axes = three_axes(problem);
  std::vector<Segment> segments[3];
  const Segment* at[3] = {};
  for (int a = 0; a < 3; ++a) {
    segments[a] =
        plan_segments(axes.axis[a], ConvDirection::kForward, axes.halo_begin[a], axes.halo_end[a]);
    at[a] = &segments[a].front();
    if (segments[a].size() != 1 || std::ssize(at[a]->taps) != axes.axis[a].kernel)
      return std::nullopt;
  }
  std::vector<Piece> pieces =
      pieces_of(axes, at, static_cast<int>(problem.geometry.in_per_group()), problem.x.stride[1]);
  if (pieces.empty()) return std::nullopt;
  const ConvRegion region = region_of(axes, at, pieces);
  return Place{region, std::move(pieces)};
}

// Bytes from `origin` to the end of the vectors that a pixel reads.
std::int64_t reach_of(const std::vector<Piece>& pieces, std::int64_t origin) {
  std::int64_t reach = 0;
  for (const Piece& piece : pieces) {
    const std::int64_t vectors = ceil_div(std::ssize(piece.k), kMveVector);
    reach = std::max(reach, piece.offset - origin + vectors * kMveVector);
  }
  return reach;
}

// Pieces as repetitions of the one before where that is possible.
std::vector<rt::MvePiece> repetitions_of(const std::vector<Piece>& pieces, std::int64_t origin) {
  std::vector<rt::MvePiece> out;
  for (const Piece& piece : pieces) {
    const std::int64_t offset = piece.offset - origin;
    const auto bytes = static_cast<int>(piece.k.size());
    if (!out.empty()) {
      rt::MvePiece& last = out.back();
      const std::int64_t step = offset - (last.offset + (last.repeat - 1) * last.step);
      if (last.bytes == bytes && (last.repeat == 1 || last.step == step)) {
        last.step = static_cast<std::ptrdiff_t>(step);
        ++last.repeat;
        continue;
      }
    }
    out.push_back({static_cast<std::ptrdiff_t>(offset), 1, 0, bytes});
  }
  return out;
}

// ---- the tile ----

// As many pixels as there are, up to 4, and channels so that there are 8 sums.
rt::MveTile tile_of(const ConvProblem& problem, const ConvRegion& place, int offset) {
  const int pixels = std::min(4, place.cols);
  const int block = pixels >= 3 ? 2 : 8 / pixels;
  return {pixels, static_cast<std::ptrdiff_t>(place.x_col),
          block,  static_cast<int>(problem.geometry.out_per_group()),
          false,  offset};
}

rt::MveAdd add_of(const AddResidual& add, const ConvRegion& place) {
  const SumFactors& f = add.factors;
  return {true,
          add.residual_is_a,
          f.ratio_a,
          f.ratio_b,
          f.fixed,
          f.a_stored,
          f.b_stored,
          f.y_stored,
          add.low,
          add.high,
          static_cast<std::ptrdiff_t>(place.r_col)};
}

MveConv function_of(const MveConvPlan& p, int pixels, bool words) {
  MveConv conv{p.tile, p.pieces, p.out, p.add, words};
  conv.tile.pixels = pixels;
  return conv;
}

// Short pieces fill vectors better when they are gathered first: that takes about two instructions
// per piece and pixel.
bool pays_to_gather(const MveConvPlan& p, std::size_t pieces) {
  MveConv conv = function_of(p, p.tile.pixels, false);
  const int apart = conv.vectors();
  conv.tile.gathered = true;
  const int together = conv.vectors();
  const bool are_short =
      std::all_of(p.pieces.begin(), p.pieces.end(),
                  [](const rt::MvePiece& piece) { return piece.bytes <= kMveVector; });
  const int blocks = (p.tile.channels + p.tile.block - 1) / p.tile.block;
  const int of_vector = p.tile.block == 2 ? 2 + 3 * p.tile.pixels : 17;
  const auto cost = static_cast<int>(2 * pieces + 3) * p.tile.pixels;
  return are_short && (apart - together) * blocks * of_vector > cost && fits(conv);
}

// Whether all that is read of x starts at multiples of 4 bytes.
bool is_in_words(const ConvProblem& problem, const MveConvPlan& p, const MvePacking* packing) {
  const ConvRegion& r = p.place;
  std::int64_t bits = problem.x.offset | r.x_offset | r.x_plane | r.x_row | r.x_col;
  for (const ConvLoop& loop : p.axes) bits |= loop.x_step;
  for (const rt::MvePiece& piece : p.pieces) bits |= piece.offset | piece.step;
  if (packing != nullptr) {
    for (const std::int64_t step : packing->x_steps) bits |= step;
  }
  return bits % 4 == 0 && !p.tile.gathered;
}

MveConvPlan plan_of(const ConvProblem& problem, const Requantize& out, const Place& place,
                    int offset) {
  MveConvPlan p;
  p.place = place.region;
  p.axes = loops_around(problem);
  p.pieces = repetitions_of(place.pieces, place.region.x_offset);
  p.reach = reach_of(place.pieces, place.region.x_offset);
  p.tile = tile_of(problem, p.place, offset);
  p.rest_pixels = p.place.cols % p.tile.pixels;
  p.out = {out.kind == Requantize::Kind::kInt32, out.zero_point, out.low, out.high,
           static_cast<std::ptrdiff_t>(p.place.y_col)};
  if (problem.residual) {
    p.add = add_of(problem.residual->add, p.place);
    p.y = 2;
  }
  p.tile.gathered = pays_to_gather(p, place.pieces.size());
  return p;
}

}  // namespace

std::optional<int> mve_weight_offset(const ConvProblem& problem) {
  constexpr int kUsual = 128;  // of all that int8 holds
  if (problem.weights.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(problem.weights.begin(), problem.weights.end());
  ETCH_CHECK(*least >= -UINT8_MAX && *most <= UINT8_MAX);
  if (*least >= -kUsual && *most < kUsual) return kUsual;
  if (*most - *least > UINT8_MAX) return std::nullopt;
  return std::max(0, -*least);
}

std::optional<PlannedMveConv> plan_mve_conv(const ConvProblem& problem, const IsaTraits& isa,
                                            const MvePacking* packing) {
  PlannedMveConv out;
  out.proof = prove_range(problem, isa);
  if (out.proof.out.kind == Requantize::Kind::kInteger) return std::nullopt;
  std::optional<Place> place = place_of(problem);
  if (!place) return std::nullopt;
  MveConvPlan& p = out.plan;
  const int offset = packing != nullptr ? packing->offset : mve_weight_offset(problem).value();
  p = plan_of(problem, out.proof.out, *place, offset);
  out.pieces = std::move(place->pieces);
  const bool words = is_in_words(problem, p, packing);
  const MveConv whole = function_of(p, p.tile.pixels, words);
  if (!fits(whole)) return std::nullopt;
  p.stream_words = whole.stream_words();
  p.whole = use(mve_conv(whole), out.assembly);
  if (p.rest_pixels > 0) p.rest = use(mve_conv(function_of(p, p.rest_pixels, words)), out.assembly);
  return out;
}

}  // namespace etch
