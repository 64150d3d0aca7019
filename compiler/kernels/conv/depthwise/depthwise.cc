// Depthwise steps: taps as quads of rows, weights by chunk phase; see depthwise.h.
#include "compiler/kernels/conv/depthwise/depthwise.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/regions.h"
#include "compiler/program/constants.h"
#include "compiler/program/requantization.h"

namespace etch {

bool is_depthwise(const ConvProblem& problem, const IsaTraits& isa) {
  const ConvGeometry& g = problem.geometry;
  const bool wide = std::any_of(problem.weights.begin(), problem.weights.end(),
                                [](int w) { return w < -128 || w > 127; });
  return g.direction == ConvDirection::kForward && g.group == g.in_channels &&
         g.out_channels == g.in_channels && g.group > 1 && g.axes.size() <= 2 &&
         !problem.scale.empty() && problem.x.stride[1] == 1 && problem.y.stride[1] == 1 &&
         (isa.weight_form == WeightForm::kS16EvenOdd || !wide);
}

namespace {

// Rows and columns of a problem with one or two spatial axes.
struct Plane {
  ConvAxis row, col;
  std::int64_t x_row = 0, x_col = 0, y_row = 0, y_col = 0;
  std::int64_t row_halo[2] = {}, col_halo[2] = {};
};

Plane plane_of(const ConvProblem& problem) {
  Plane out;
  const std::size_t rank = problem.geometry.axes.size();
  const std::size_t last = rank + 1;
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

class Builder {
 public:
  Builder(const ConvProblem& problem, const IsaTraits& isa)
      : problem_(problem),
        isa_(isa),
        plane_(plane_of(problem)),
        channels_(static_cast<int>(problem.geometry.in_channels)) {}

  std::unique_ptr<Step> build() {
    step_ = std::make_unique<DepthwiseStep>();
    step_->kind = "depthwise";
    DepthwisePlan& plan = step_->plan;
    plan.out = problem_.out;
    prove_range(problem_, isa_, plan.out, *step_);
    plan.images = static_cast<int>(problem_.geometry.batch);
    plan.x_image = problem_.x.stride[0];
    plan.y_image = problem_.y.stride[0];
    const auto rows =
        plan_segments(plane_.row, ConvDirection::kForward, plane_.row_halo[0], plane_.row_halo[1]);
    const auto cols =
        plan_segments(plane_.col, ConvDirection::kForward, plane_.col_halo[0], plane_.col_halo[1]);
    for (const Segment& row : rows) {
      for (const Segment& col : cols) add_region(row, col);
    }
    if (weights_.empty()) return nullptr;
    step_->constants.push_back(byte_array(
        "weights", std::move(weights_),
        cat("packed for ", isa_.lanes, " lanes: chunk, tap, row, vector, lane, 4 kernel rows")));
    step_->constants.push_back(
        int32_array("bias", bias_, "bias - x_zero_point * sum(w), in lane order"));
    step_->constants.push_back(factors());
    step_->macs = element_count(problem_.y.shape) * problem_.taps();
    step_->schedule = schedule();
    add_overlap();
    return std::move(step_);
  }

 private:
  void add_region(const Segment& row, const Segment& col) {
    DepthwiseRegion region;
    region.rows = static_cast<int>(row.count);
    region.y_offset = row.first * plane_.y_row + col.first * plane_.y_col;
    region.x_row = row.advance * plane_.x_row;
    region.y_row = plane_.y_row;
    const bool pair = isa_.objective != Objective::kSize && row.advance == 1 && region.rows > 1 &&
                      row.taps.size() <= 3 && contiguous(row);
    region.rows_together = pair ? 2 : 1;
    shape_runs(region, row, col);
    if (!row.taps.empty() && !col.taps.empty()) {
      region.x_offset =
          row.taps.front().input * plane_.x_row + col.taps.front().input * plane_.x_col;
    }
    const int phases =
        std::min(region.period, static_cast<int>(ceil_div(region.bytes, isa_.byte_lanes())));
    region.taps = taps_of(row, col, region.rows_together);
    region.weights = append_pass(row, col, region.rows_together, phases);
    if (pair && region.rows % 2 != 0) {
      region.taps_single = taps_of(row, col, 1);
      region.weights_single = append_pass(row, col, 1, phases);
    }
    append_lanes(region, row, col, phases);
    step_->plan.regions.push_back(region);
  }

  // Whether a row is one flat run of chunks, where their inputs are, and what is done at once.
  void shape_runs(DepthwiseRegion& region, const Segment& row, const Segment& col) const {
    const int full = isa_.byte_lanes();
    const std::int64_t x_pixel = col.advance * plane_.x_col;
    const std::int64_t bytes = col.count * channels_;
    const bool in_a_row = plane_.y_col == channels_;
    const bool whole = x_pixel == channels_ || channels_ % full == 0;
    const bool composed = in_a_row && !whole && composes(bytes, row, col);
    const bool flat = in_a_row && (whole || composed);
    region.cols = flat ? 1 : static_cast<int>(col.count);
    region.x_col = flat ? 0 : x_pixel;
    region.y_col = flat ? 0 : plane_.y_col;
    region.bytes = flat ? static_cast<int>(bytes) : channels_;
    const int chunks = region.bytes / full;
    const int pixels = flat ? std::lcm(channels_, full) / channels_ : 0;  // per period
    region.period = flat ? pixels * channels_ / full : chunks + 1;
    region.x_period = pixels * x_pixel;
    if (region.period > chunks) region.period = chunks + 1;
    if (composed) {
      region.piece = channels_;
      region.x_piece = x_pixel;
    }
    // Twice the accumulators, for half the loads of weights.
    constexpr int kTogether = 2;
    if (chunks / region.period >= kTogether &&
        4 * kTogether * region.rows_together <= isa_.accumulators && isa_.lanes == 16)
      region.together = kTogether;
  }

  // Whether composing chunks from pieces of pixels saves more than it costs. Pieces of odd sizes
  // take masked loads, and every chunk of a period has code of its own.
  bool composes(std::int64_t bytes, const Segment& row, const Segment& col) const {
    constexpr std::int64_t kMostChunks = 9, kMostPieces = 1200;
    const int full = isa_.byte_lanes();
    if (isa_.lanes < 4 || (isa_.lanes < 16 && channels_ % 4 != 0)) return false;
    const std::int64_t chunks =
        std::min<std::int64_t>(std::lcm(channels_, full) / full, ceil_div(bytes, full));
    const std::int64_t pieces = ceil_div(full, channels_) + 1;
    const auto taps = static_cast<std::int64_t>(row.taps.size() * col.taps.size());
    return chunks <= kMostChunks && chunks * pieces * taps <= kMostPieces;
  }

  static bool contiguous(const Segment& row) {
    for (std::size_t i = 1; i < row.taps.size(); ++i) {
      if (row.taps[i].input != row.taps[i - 1].input + 1) return false;
    }
    return !row.taps.empty();
  }

  // Image rows that a quad starting at tap `first` covers, relative to the first tap's row.
  std::vector<QuadTap> taps_of(const Segment& row, const Segment& col, int rows) const {
    std::vector<QuadTap> out;
    const auto count = static_cast<int>(row.taps.size()) + rows - 1;
    for (const SegmentTap& tap : col.taps) {
      for (int first = 0; first < count; first += 4) {
        QuadTap quad;
        quad.x_offset = (tap.input - col.taps.front().input) * plane_.x_col;
        for (int i = 0; i < 4; ++i)
          quad.row_offset[i] = row_at(row, std::min(first + i, count - 1)) * plane_.x_row;
        out.push_back(quad);
      }
    }
    return out;
  }

  // Image row of position i (beyond the taps: the next rows, for a second output row).
  static std::int64_t row_at(const Segment& row, int i) {
    const auto last = static_cast<int>(row.taps.size()) - 1;
    const std::int64_t beyond = std::max(0, i - last);
    return row.taps[static_cast<std::size_t>(std::min(i, last))].input + beyond -
           row.taps.front().input;
  }

  std::int64_t append_pass(const Segment& row, const Segment& col, int rows, int phases) {
    const auto start = static_cast<std::int64_t>(weights_.size());
    const auto count = static_cast<int>(row.taps.size()) + rows - 1;
    for (int phase = 0; phase < phases; ++phase) {
      for (const SegmentTap& tap : col.taps) {
        for (int first = 0; first < count; first += 4) {
          for (int r = 0; r < rows; ++r) {
            for (int v = 0; v < 4; ++v) append_vector(row, tap.kernel, first - r, phase, v);
          }
        }
      }
    }
    return start;
  }

  // Weights of kernel rows `first` .. `first` + 3 of one column; zero outside the taps.
  void append_vector(const Segment& row, int kernel_col, int first, int phase, int v) {
    LaneWeights lanes(static_cast<std::size_t>(isa_.lanes));
    for (int lane = 0; lane < isa_.lanes; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int tap = first + i;
        if (tap < 0 || tap >= static_cast<int>(row.taps.size())) continue;
        const std::int64_t kernel_row = row.taps[static_cast<std::size_t>(tap)].kernel;
        lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] = problem_.weight(
            channel(phase, v, lane), kernel_row * plane_.col.kernel + kernel_col, 0);
      }
    }
    append_weights(weights_, isa_, lanes);
  }

  int channel(int phase, int v, int lane) const {
    return (phase * isa_.byte_lanes() + channel_of(isa_, 4, v, lane)) % channels_;
  }

  void append_lanes(DepthwiseRegion& region, const Segment& row, const Segment& col, int phases) {
    std::vector<int> taps;
    for (const SegmentTap& r : row.taps) {
      for (const SegmentTap& c : col.taps)
        taps.push_back(static_cast<int>(r.kernel * plane_.col.kernel + c.kernel));
    }
    region.bias = static_cast<std::int64_t>(bias_.size());
    for (int phase = 0; phase < phases; ++phase) {
      for (int v = 0; v < 4; ++v) {
        for (int lane = 0; lane < isa_.lanes; ++lane) {
          const int m = channel(phase, v, lane);
          bias_.push_back(folded_bias(problem_, m, taps));
        }
      }
    }
    most_phases_ = std::max(most_phases_, phases);
  }

  // What requantization needs, for the lanes of every phase.
  ConstantArray factors() const {
    std::vector<int> channels;
    for (int phase = 0; phase < most_phases_; ++phase) {
      for (int v = 0; v < 4; ++v) {
        for (int lane = 0; lane < isa_.lanes; ++lane) channels.push_back(channel(phase, v, lane));
      }
    }
    const Requantize& out = step_->plan.out;
    if (out.kind == Requantize::Kind::kInteger)
      return requantize_constants(*step_, out.integer, channels, isa_.lanes);
    std::vector<float> scale;
    for (const int m : channels) scale.push_back(problem_.scale[static_cast<std::size_t>(m)]);
    return float_array("scale", scale, "x_scale * w_scale / y_scale, in lane order");
  }

  std::string schedule() const {
    const auto& regions = step_->plan.regions;
    const auto by_work = [](const DepthwiseRegion& a, const DepthwiseRegion& b) {
      return std::int64_t{a.rows} * a.cols * a.bytes < std::int64_t{b.rows} * b.cols * b.bytes;
    };
    const DepthwiseRegion& largest = *std::ranges::max_element(regions, by_work);
    std::string out = cat(largest.rows_together, largest.rows_together == 1 ? " row" : " rows",
                          " x ", isa_.byte_lanes(), " bytes");
    if (largest.together > 1) out += cat(" x ", largest.together);
    if (largest.piece > 0) out += " from pieces of pixels";
    out +=
        cat(", weights repeat after ", largest.period, largest.period == 1 ? " chunk" : " chunks");
    if (regions.size() > 1) out += cat(", ", regions.size(), " regions");
    return out;
  }

  // Rows are written in order and never before they have been read.
  void add_overlap() {
    const DepthwiseRegion& r = step_->plan.regions.front();
    if (step_->plan.regions.size() > 1 || step_->plan.images > 1) return;
    std::int64_t distance = std::numeric_limits<std::int64_t>::min();
    for (int row = 0; row < r.rows; row += r.rows_together) {
      const int last = std::min(row + r.rows_together, r.rows) - 1;
      const std::int64_t written = r.y_offset + last * r.y_row + (r.cols - 1) * r.y_col + r.bytes;
      distance = std::max(distance, written - (r.x_offset + row * r.x_row));
    }
    step_->overlaps.push_back({1, 0, distance + problem_.y.offset - problem_.x.offset});
  }

  const ConvProblem& problem_;
  const IsaTraits& isa_;
  Plane plane_;
  int channels_;
  std::vector<std::byte> weights_;
  std::vector<std::int32_t> bias_;
  int most_phases_ = 0;
  std::unique_ptr<DepthwiseStep> step_;
};

}  // namespace

std::unique_ptr<Step> make_depthwise_step(const ConvProblem& problem, const IsaTraits& isa) {
  return Builder(problem, isa).build();
}

}  // namespace etch
