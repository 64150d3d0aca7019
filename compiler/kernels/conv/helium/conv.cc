// See mve_conv.h.
#include "compiler/kernels/conv/helium/conv.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/regions.h"
#include "compiler/program/constants.h"
#include "compiler/stage/staged_step_impl.h"

namespace etch {

ETCH_INSTANTIATE_STEP(MveConvStep);

namespace {

constexpr int kVector = 16;  // bytes

// Helium flushes subnormal floats to zero, which could only be seen with factors as small as this.
bool is_ordinary(float ratio) { return std::fabs(ratio) > 0x1p-60F && std::fabs(ratio) < 0x1p60F; }

bool is_served(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  const bool narrow = std::all_of(problem.weights.begin(), problem.weights.end(),
                                  [](int w) { return w >= -128 && w <= 127; });
  const bool channels_last = (g.in_per_group() == 1 || problem.x.stride[1] == 1) &&
                             problem.y.stride[1] == bytes_of(problem.y.dtype);
  const bool grouped = g.group == 1 || (g.in_per_group() >= 4 && g.out_per_group() >= 2);
  if (g.direction != ConvDirection::kForward || !narrow || !channels_last || !grouped) return false;
  if (!problem.residual) return true;
  const SumFactors& f = problem.residual->add.factors;
  return problem.residual->view.stride[1] == 1 && is_ordinary(f.ratio_a) && is_ordinary(f.ratio_b);
}

class Builder {
 public:
  Builder(const ConvProblem& problem, const IsaTraits& isa)
      : problem_(problem), isa_(isa), axes_(three_axes(problem)) {}

  std::unique_ptr<MveConvStep> build() {
    step_ = std::make_unique<MveConvStep>();
    step_->kind = "conv";
    Requantize out = problem_.out;
    prove_range(problem_, isa_, out, *step_);
    if (out.kind == Requantize::Kind::kInteger) return nullptr;
    if (!add_region()) return nullptr;
    add_loops();
    flatten();
    choose_tile(out);
    if (problem_.residual) add_residual();
    choose_gather();
    step_->words = is_in_words();
    if (!add_functions()) return nullptr;
    pack();
    describe();
    add_overlaps();
    return std::move(step_);
  }

 private:
  MveConvPlan& plan() { return step_->plan; }
  const ConvGeometry& geometry() const { return problem_.geometry; }
  std::int64_t y_bytes() const { return bytes_of(problem_.y.dtype); }

  // False where some pixels lack taps.
  bool add_region() {
    std::vector<Segment> segments[3];
    const Segment* at[3] = {};
    for (int a = 0; a < 3; ++a) {
      segments[a] = plan_segments(axes_.axis[a], ConvDirection::kForward, axes_.halo_begin[a],
                                  axes_.halo_end[a]);
      at[a] = &segments[a].front();
      if (segments[a].size() != 1 || std::ssize(at[a]->taps) != axes_.axis[a].kernel) return false;
    }
    ConvRegion& r = plan().place;
    r.planes = static_cast<int>(at[0]->count);
    r.rows = static_cast<int>(at[1]->count);
    r.cols = static_cast<int>(at[2]->count);
    r.x_plane = at[0]->advance * axes_.x_stride[0];
    r.x_row = at[1]->advance * axes_.x_stride[1];
    r.x_col = at[2]->advance * axes_.x_stride[2];
    r.y_plane = axes_.y_stride[0];
    r.y_row = axes_.y_stride[1];
    r.y_col = axes_.y_stride[2];
    r.r_plane = axes_.r_stride[0];
    r.r_row = axes_.r_stride[1];
    r.r_col = axes_.r_stride[2];
    pieces_ =
        pieces_of(axes_, at, static_cast<int>(geometry().in_per_group()), problem_.x.stride[1]);
    if (pieces_.empty()) return false;
    r.x_offset = pieces_.front().offset;
    for (const Piece& piece : pieces_) r.x_offset = std::min(r.x_offset, piece.offset);
    for (const Piece& piece : pieces_)
      add_piece(piece.offset - r.x_offset, static_cast<int>(piece.k.size()));
    return true;
  }

  // As a repetition of the one before where that is possible.
  void add_piece(std::int64_t offset, int bytes) {
    plan().reach = std::max(plan().reach, offset + ceil_div(bytes, kVector) * kVector);
    if (!plan().pieces.empty()) {
      rt::MvePiece& last = plan().pieces.back();
      const std::int64_t step = offset - (last.offset + (last.repeat - 1) * last.step);
      if (last.bytes == bytes && (last.repeat == 1 || last.step == step)) {
        last.step = static_cast<std::ptrdiff_t>(step);
        ++last.repeat;
        return;
      }
    }
    plan().pieces.push_back({static_cast<std::ptrdiff_t>(offset), 1, 0, bytes});
  }

  void add_loops() {
    const auto r_stride = [&](std::size_t d) {
      return problem_.residual ? problem_.residual->view.stride[d] : 0;
    };
    if (geometry().batch > 1) {
      plan().axes.push_back({"image", static_cast<int>(geometry().batch), problem_.x.stride[0],
                             problem_.y.stride[0] / y_bytes(), r_stride(0), false});
    }
    if (geometry().group > 1) {
      plan().axes.push_back({"group", static_cast<int>(geometry().group),
                             geometry().in_per_group() * problem_.x.stride[1],
                             geometry().out_per_group(), geometry().out_per_group() * r_stride(1),
                             true});
    }
  }

  // Rows that follow each other without a gap are one row.
  void flatten() {
    ConvRegion& r = plan().place;
    for (int i = 0; i < 2; ++i) {
      if (r.x_row != r.cols * r.x_col || r.y_row != r.cols * r.y_col || r.r_row != r.cols * r.r_col)
        return;
      r.cols *= r.rows;
      r.rows = r.planes;
      r.planes = 1;
      r.x_row = r.x_plane;
      r.y_row = r.y_plane;
      r.r_row = r.r_plane;
    }
  }

  // As many pixels as there are, up to 4, and channels so that there are 8 sums.
  void choose_tile(const Requantize& out) {
    MveConvPlan& p = plan();
    const int pixels = std::min(4, p.place.cols);
    const int block = pixels >= 3 ? 2 : 8 / pixels;
    p.tile = {pixels, static_cast<std::ptrdiff_t>(p.place.x_col), block,
              static_cast<int>(geometry().out_per_group()), false};
    p.rest_pixels = p.place.cols % pixels;
    p.out = {out.kind == Requantize::Kind::kInt32, out.zero_point, out.low, out.high,
             static_cast<std::ptrdiff_t>(p.place.y_col)};
  }

  void add_residual() {
    const AddResidual& add = problem_.residual->add;
    const SumFactors& f = add.factors;
    plan().add = {true,
                  add.residual_is_a,
                  f.ratio_a,
                  f.ratio_b,
                  f.fixed,
                  f.a_stored,
                  f.b_stored,
                  f.y_stored,
                  add.low,
                  add.high,
                  static_cast<std::ptrdiff_t>(plan().place.r_col)};
  }

  // Short pieces fill vectors better when they are gathered first: that takes about two
  // instructions per piece and pixel.
  void choose_gather() {
    MveConvPlan& p = plan();
    MveConv conv = function(p.tile.pixels);
    const int apart = conv.vectors();
    conv.tile.gathered = true;
    const int together = conv.vectors();
    const bool are_short = std::all_of(p.pieces.begin(), p.pieces.end(),
                                       [](const rt::MvePiece& piece) { return piece.bytes <= 16; });
    const int blocks = (p.tile.channels + p.tile.block - 1) / p.tile.block;
    const int of_vector = p.tile.block == 2 ? 2 + 3 * p.tile.pixels : 17;
    const auto cost = static_cast<int>(2 * pieces_.size() + 3) * p.tile.pixels;
    p.tile.gathered = are_short && (apart - together) * blocks * of_vector > cost && fits(conv);
  }

  bool is_in_words() const {
    const MveConvPlan& p = step_->plan;
    const ConvRegion& r = p.place;
    std::int64_t bits = problem_.x.offset | r.x_offset | r.x_plane | r.x_row | r.x_col;
    for (const ConvLoop& loop : p.axes) bits |= loop.x_step;
    for (const rt::MvePiece& piece : p.pieces) bits |= piece.offset | piece.step;
    return bits % 4 == 0 && !p.tile.gathered;
  }

  MveConv function(int pixels) const {
    const MveConvPlan& p = step_->plan;
    MveConv conv{p.tile, p.pieces, p.out, p.add, step_->words};
    conv.tile.pixels = pixels;
    return conv;
  }

  bool add_functions() {
    MveConvPlan& p = plan();
    p.stream_words = function(p.tile.pixels).stream_words();
    const auto use = [&](int pixels) {
      step_->assembly.push_back(mve_conv(function(pixels)));
      return step_->assembly.back().name;
    };
    if (!fits(function(p.tile.pixels))) return false;
    p.whole = use(p.tile.pixels);
    if (p.rest_pixels > 0) p.rest = use(p.rest_pixels);
    return true;
  }

  // ---- the stream ----
  void pack() {
    std::vector<int> taps;
    for (int tap = 0; tap < problem_.taps(); ++tap) taps.push_back(tap);
    std::vector<std::pair<int, int>> k;  // (tap, channel) of every byte; tap -1: padding
    for (const Piece& piece : pieces_) {
      k.insert(k.end(), piece.k.begin(), piece.k.end());
      while (!plan().tile.gathered && k.size() % kVector != 0) k.emplace_back(-1, 0);
    }
    while (k.size() % kVector != 0) k.emplace_back(-1, 0);
    for (std::int64_t g = 0; g < geometry().group; ++g) {
      for (int first = 0; first < plan().tile.channels; first += plan().tile.block) {
        const int n = std::min(plan().tile.block, plan().tile.channels - first);
        pack_weights(k, g * plan().tile.channels + first, n);
        pack_factors(taps, g * plan().tile.channels + first, n);
      }
    }
    ETCH_CHECK(std::ssize(stream_) == geometry().group * plan().stream_words);
    step_->constants.push_back(int32_array(
        "stream", stream_, "per block of channels: packed weights plus 128, biases, scales"));
  }

  void pack_weights(const std::vector<std::pair<int, int>>& k, std::int64_t first, int n) {
    for (std::size_t at = 0; at < k.size(); at += kVector) {
      for (int c = 0; c < n; ++c) {
        for (std::size_t word = at; word < at + kVector; word += 4) {
          std::uint32_t bits = 0;
          for (std::size_t i = 0; i < 4; ++i) {
            const auto [tap, channel] = k[word + i];
            const int weight = tap < 0 ? 0 : problem_.weight(first + c, tap, channel) + 128;
            bits |= static_cast<std::uint32_t>(weight) << (8 * i);
          }
          stream_.push_back(static_cast<std::int32_t>(bits));
        }
      }
    }
  }

  void pack_factors(const std::vector<int>& taps, std::int64_t first, int n) {
    const MveConvPlan& p = plan();
    const std::size_t start = stream_.size();
    stream_.resize(start +
                   static_cast<std::size_t>(rt::mve_factor_words(p.tile, p.out.is_int32, n)));
    for (int c = 0; c < n; ++c) {
      int to_scale = 0;
      const std::size_t at =
          start + static_cast<std::size_t>(rt::mve_factor(p.tile, p.out.is_int32, c, &to_scale));
      stream_[at] = folded_bias(problem_, first + c, taps);
      if (p.out.is_int32) continue;
      stream_[at + static_cast<std::size_t>(to_scale)] =
          std::bit_cast<std::int32_t>(problem_.scale[static_cast<std::size_t>(first + c)]);
    }
  }

  void describe() {
    const MveConvPlan& p = plan();
    const std::int64_t pixels = element_count(problem_.y.shape) / problem_.y.shape[1];
    step_->macs = pixels * geometry().out_channels * geometry().in_per_group() * problem_.taps();
    step_->schedule = cat("tiles of ", p.tile.pixels, p.tile.pixels == 1 ? " pixel" : " pixels",
                          " x ", p.tile.block, " channels in assembly");
    if (p.tile.gathered) {
      step_->facts.emplace_back("what a tile multiplies is brought together on the stack");
    }
  }

  // Tiles are read as a whole before any later one, and written in order; their channels are not.
  void add_overlaps() {
    const MveConvPlan& p = plan();
    const ConvRegion& r = p.place;
    if (!p.axes.empty() || r.planes > 1 || y_bytes() != 1) return;
    const int y = p.add.is_there ? 2 : 1;
    step_->overlaps.push_back(
        {y, 0, distance(r.x_offset, r.x_row, r.x_col) + problem_.y.offset - problem_.x.offset});
    if (!p.add.is_there) return;
    step_->overlaps.push_back(
        {y, 1, distance(0, r.r_row, r.r_col) + problem_.y.offset - problem_.residual->view.offset});
  }

  // The most that a tile has written of y beyond the first byte that it may still read.
  std::int64_t distance(std::int64_t offset, std::int64_t row_step, std::int64_t col_step) const {
    const MveConvPlan& p = step_->plan;
    const ConvRegion& r = p.place;
    std::int64_t worst = std::numeric_limits<std::int64_t>::min();
    for (int row = 0; row < r.rows; ++row) {
      for (int col = 0; col < r.cols; col += p.tile.pixels) {
        const int last = std::min(col + p.tile.pixels, r.cols) - 1;
        const std::int64_t written = row * r.y_row + last * r.y_col + p.tile.channels;
        worst = std::max(worst, written - (offset + row * row_step + col * col_step));
      }
    }
    return worst;
  }

  const ConvProblem& problem_;
  const IsaTraits& isa_;
  Axes3 axes_;
  std::vector<Piece> pieces_;
  std::vector<std::int32_t> stream_;
  std::unique_ptr<MveConvStep> step_;
};

}  // namespace

bool mve_conv_serves(const ConvProblem& problem, const IsaTraits& isa) {
  return isa.assembly == Assembly::kMve && is_served(problem);
}

std::unique_ptr<MveConvStep> make_mve_conv_step(const ConvProblem& problem, const IsaTraits& isa) {
  return Builder(problem, isa).build();
}

}  // namespace etch
