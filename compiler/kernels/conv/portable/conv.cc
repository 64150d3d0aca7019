// Convolution steps for the matrix kernel; see conv.h.
#include "compiler/kernels/conv/portable/conv.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/kernels/conv/depthwise/depthwise.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/proof.h"
#include "compiler/kernels/conv/regions.h"
#include "compiler/kernels/conv/tap_grids.h"
#include "compiler/kernels/conv/tiles.h"
#include "compiler/kernels/conv/tuning_key.h"
#include "compiler/program/constants.h"
#include "compiler/program/requantization.h"

namespace etch {

namespace {

// Weights wider than int8 are a sum of parts, each issued as a tap of its own.
struct Parts {
  int count = 1;
  int of(int weight, int part) const {
    for (int p = 0; p < part; ++p) weight -= std::clamp(weight, -128, 127);
    return std::clamp(weight, -128, 127);
  }
};

Parts parts_needed(const ConvProblem& problem, const IsaTraits& isa) {
  if (isa.weight_form == WeightForm::kS16EvenOdd) return {1};
  Parts parts;
  for (const int w : problem.weights)
    parts.count = std::max(parts.count, w > 254 ? 3 : w > 127 || w < -128 ? 2 : 1);
  return parts;
}

class Builder {
 public:
  Builder(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning)
      : problem_(problem),
        isa_(isa),
        tuning_(tuning),
        axes_(three_axes(problem)),
        parts_(parts_needed(problem, isa)) {}

  std::unique_ptr<ConvStep> build() {
    step_ = std::make_unique<ConvStep>();
    step_->kind = "conv";
    plan().out = problem_.out;
    if (problem_.residual) plan().add = problem_.residual->add;
    prove_range(problem_, isa_, plan().out, *step_);
    add_loops();
    add_regions();
    flatten();
    choose_schedule();
    pack();
    describe();
    add_overlaps();
    return std::move(step_);
  }

 private:
  ConvPlan& plan() { return step_->plan; }
  const ConvGeometry& geometry() const { return problem_.geometry; }

  void add_loops() {
    const std::int64_t y_bytes = bytes_of(problem_.y.dtype);
    const auto r_stride = [&](std::size_t d) {
      return problem_.residual ? problem_.residual->view.stride[d] : 0;
    };
    if (geometry().batch > 1) {
      plan().axes.push_back({"image", static_cast<int>(geometry().batch), problem_.x.stride[0],
                             problem_.y.stride[0] / y_bytes, r_stride(0), false});
    }
    if (geometry().group > 1) {
      plan().axes.push_back({"group", static_cast<int>(geometry().group),
                             geometry().in_per_group() * problem_.x.stride[1],
                             geometry().out_per_group() * problem_.y.stride[1] / y_bytes,
                             geometry().out_per_group() * r_stride(1), true});
    }
  }

  void add_regions() {
    std::vector<Segment> segments[3];
    for (int a = 0; a < 3; ++a) {
      segments[a] = plan_segments(axes_.axis[a], geometry().direction, axes_.halo_begin[a],
                                  axes_.halo_end[a]);
    }
    for (const Segment& d : segments[0]) {
      for (const Segment& h : segments[1]) {
        for (const Segment& w : segments[2]) {
          const Segment* const at[3] = {&d, &h, &w};
          add_region(at);
        }
      }
    }
    keep_operands_in_use();
    // A grid numbers all taps of the kernel.
    const auto has_all_taps = [&](int a) {
      return static_cast<std::int64_t>(segments[a].front().taps.size()) == axes_.axis[a].kernel;
    };
    if (plan().regions.size() == 1 && parts_.count == 1 && axes_.axis[0].kernel == 1 &&
        has_all_taps(1) && has_all_taps(2)) {
      plan().regions.front().grid =
          make_tap_grid(geometry(), {axes_.axis[1], axes_.x_stride[1]},
                        {axes_.axis[2], axes_.x_stride[2]}, problem_.x.stride[1]);
    }
  }

  // A transposed convolution may be cropped to positions that no input reaches. Then one group of
  // zero weights stands for all taps, so that the step still has weights and reads x.
  void keep_operands_in_use() {
    const auto& regions = plan().regions;
    if (std::any_of(regions.begin(), regions.end(),
                    [](const ConvRegion& region) { return !region.runs.empty(); }))
      return;
    ConvRegion& region = plan().regions.front();
    region.x_plane = region.x_row = region.x_col = 0;
    region.runs.push_back({0, 1, 0, 1, 4});
    k_.front().assign(4, {-1, 0});
  }

  void add_region(const Segment* const at[3]) {
    ConvRegion region;
    region.planes = static_cast<int>(at[0]->count);
    region.rows = static_cast<int>(at[1]->count);
    region.cols = static_cast<int>(at[2]->count);
    std::int64_t* const x_step[3] = {&region.x_plane, &region.x_row, &region.x_col};
    std::int64_t* const y_step[3] = {&region.y_plane, &region.y_row, &region.y_col};
    std::int64_t* const r_step[3] = {&region.r_plane, &region.r_row, &region.r_col};
    for (int a = 0; a < 3; ++a) {
      *x_step[a] = at[a]->advance * axes_.x_stride[a];
      *y_step[a] = at[a]->step * axes_.y_stride[a];
      *r_step[a] = at[a]->step * axes_.r_stride[a];
      region.y_offset += at[a]->first * axes_.y_stride[a];
      region.r_offset += at[a]->first * axes_.r_stride[a];
    }
    const auto pieces =
        pieces_of(axes_, at, static_cast<int>(geometry().in_per_group()), problem_.x.stride[1]);
    std::vector<std::pair<int, int>> k;  // (tap, channel), one per byte of K; tap -1: padding
    part_ends_.emplace_back();
    add_runs(region, pieces, k);
    plan().regions.push_back(region);
    k_.push_back(std::move(k));
  }

  // Whether any output channel has a weight with this part at one of these bytes.
  bool has_part(const std::pair<int, int>* k, std::size_t count, int part) const {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::int64_t m = 0; m < geometry().out_channels; ++m) {
        if (parts_.of(problem_.weight(m, k[i].first, k[i].second), part) != 0) return true;
      }
    }
    return false;
  }

  // The groups of 4 bytes that have this part: few weights are wider than int8, as a rule.
  std::vector<Piece> pieces_of_part(const std::vector<Piece>& pieces, int part) const {
    if (part == 0) return pieces;
    std::vector<Piece> out;
    for (const Piece& piece : pieces) {
      bool last = false;  // whether the group before is there
      for (std::size_t at = 0; at < piece.k.size(); at += 4) {
        const std::size_t count = std::min<std::size_t>(4, piece.k.size() - at);
        const bool here = has_part(&piece.k[at], count, part);
        if (here && !last) out.push_back({piece.offset + static_cast<std::int64_t>(at), {}});
        const auto from = piece.k.begin() + static_cast<std::ptrdiff_t>(at);
        if (here)
          out.back().k.insert(out.back().k.end(), from, from + static_cast<std::ptrdiff_t>(count));
        last = here;
      }
    }
    return out;
  }

  // Runs in the order in which the kernel walks them; other parts of wide weights follow the first.
  void add_runs(ConvRegion& region, const std::vector<Piece>& pieces,
                std::vector<std::pair<int, int>>& k) {
    if (!pieces.empty()) {
      region.x_offset =
          std::min_element(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
            return a.offset < b.offset;
          })->offset;
    }
    for (int part = 0; part < parts_.count; ++part) {
      const std::size_t first = region.runs.size();
      for (const Piece& piece : pieces_of_part(pieces, part)) {
        const auto groups =
            static_cast<int>(ceil_div(static_cast<std::int64_t>(piece.k.size()), 4));
        const std::int64_t offset = piece.offset - region.x_offset;
        const auto bytes = static_cast<int>(piece.k.size());
        if (region.runs.size() == first || !extend(region.runs.back(), offset, groups)) {
          region.runs.push_back({offset, 1, 0, groups, bytes});
        }
        region.runs.back().bytes = std::max(region.runs.back().bytes, bytes);
        k.insert(k.end(), piece.k.begin(), piece.k.end());
        while (k.size() % 4 != 0) k.emplace_back(-1, 0);
      }
      if (part == 0) first_part_ = std::max(first_part_, k.size() / 4);
      part_ends_.back().push_back(k.size());
    }
    most_groups_ = std::max(most_groups_, k.size() / 4);
  }

  static bool extend(KRun& run, std::int64_t offset, int groups) {
    if (run.groups != groups) return false;
    const std::int64_t step = offset - (run.x_offset + (run.repeat - 1) * run.repeat_step);
    if (run.repeat > 1 && step != run.repeat_step) return false;
    run.repeat_step = step;
    ++run.repeat;
    return true;
  }

  // Planes, rows and columns become one row where the memory allows it.
  void flatten() {
    for (ConvRegion& r : plan().regions) {
      if (r.x_row == r.cols * r.x_col && r.y_row == r.cols * r.y_col &&
          r.r_row == r.cols * r.r_col) {
        r.cols *= r.rows;
        r.rows = 1;
        r.grid.reset();
        r.x_row = r.planes > 1 ? r.x_plane : 0;
        r.y_row = r.planes > 1 ? r.y_plane : 0;
        r.r_row = r.planes > 1 ? r.r_plane : 0;
        std::swap(r.rows, r.planes);
      }
    }
  }

  void choose_schedule() {
    const auto channels = static_cast<int>(geometry().out_per_group());
    step_->key = tuning_key(problem_, parts_.count);
    choose_tiles(plan(), isa_, channels);
    const TuningEntry* const entry = find_tuning(tuning_, isa_.name, step_->key);
    if (entry == nullptr) return;
    step_->from_file = true;
    if (apply_choice(plan(), isa_, channels, entry->choice)) return;
    step_->tuning_fault = cat("line ", entry->line, " of the tuning file: with this tile the step ",
                              "would have more than ", kMostUnrolledStatements, " statements");
  }

  void pack() {
    const auto groups = static_cast<int>(geometry().group);
    std::vector<std::byte> weights;
    for (int g = 0; g < groups; ++g) {
      const std::size_t group_start = weights.size();
      for (std::size_t r = 0; r < plan().regions.size(); ++r) {
        plan().regions[r].weights = static_cast<std::int64_t>(weights.size() - group_start);
        for (const ChannelBlock& block : plan().blocks) {
          if (block.form == BlockForm::kWhole) {
            pack_blocks(weights, block, r, g);
          } else {
            pack_halves(weights, block, r, g);
          }
        }
      }
      plan().weights_per_group = static_cast<std::int64_t>(weights.size() - group_start);
    }
    step_->constants.push_back(byte_array("weights", std::move(weights), weights_comment()));
    pack_lanes();
  }

  void pack_blocks(std::vector<std::byte>& out, const ChannelBlock& block, std::size_t region,
                   int g) {
    const std::vector<std::pair<int, int>>& k = k_[region];
    LaneWeights lanes(static_cast<std::size_t>(isa_.lanes));
    for (int b = 0; b < block.repeat; ++b) {
      for (std::size_t k0 = 0; k0 < k.size(); k0 += 4) {
        const int part = part_at(region, k0);
        for (int v = 0; v < block.vectors; ++v) {
          for (int lane = 0; lane < isa_.lanes; ++lane) {
            const int m = channel(block, b, v, lane, g);
            for (std::size_t i = 0; i < 4; ++i) {
              const auto [tap, c] = k[k0 + i];
              const bool real = m >= 0 && tap >= 0;
              const int w = real ? problem_.weight(m, tap, c) : 0;
              lanes[static_cast<std::size_t>(lane)][i] =
                  isa_.weight_form == WeightForm::kS8x4 ? parts_.of(w, part) : w;
            }
          }
          append_weights(out, isa_, lanes);
        }
      }
    }
  }

  // Which part of the weights the byte k0 of a region's K multiplies.
  int part_at(std::size_t region, std::size_t k0) const {
    int part = 0;
    for (const std::size_t end : part_ends_[region]) part += k0 >= end ? 1 : 0;
    return std::min(part, parts_.count - 1);
  }

  // Lanes 2i and 2i + 1 are one channel; their bytes of K differ (half_vectors.h).
  void pack_halves(std::vector<std::byte>& out, const ChannelBlock& block, std::size_t r, int g) {
    const ConvRegion& region = plan().regions[r];
    const bool pairs = block.form == BlockForm::kPairs;
    LaneWeights lanes(static_cast<std::size_t>(isa_.lanes));
    std::int64_t start = 0;  // of the repetition, in k
    for (const KRun& run : region.runs) {
      for (int repeat = 0; repeat < run.repeat; ++repeat, start += 4 * run.groups) {
        for (int group = 0; group < region.groups_of(run, block.form); ++group) {
          for (int lane = 0; lane < isa_.lanes; ++lane) {
            const std::int64_t first =
                (pairs ? 4 : 8) * group + lane % 2 * (pairs ? 4 - region.x_col : 4);
            for (std::int64_t i = 0; i < 4; ++i) {
              const bool inside = first + i >= 0 && first + i < 4 * run.groups;
              lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] =
                  inside ? weight_at(block, lane, g, r, start + first + i) : 0;
            }
          }
          append_weights(out, isa_, lanes);
        }
      }
    }
  }

  int weight_at(const ChannelBlock& block, int lane, int g, std::size_t region,
                std::int64_t at) const {
    const int m = channel(block, 0, 0, lane, g);
    const auto position = static_cast<std::size_t>(at);
    const auto [tap, c] = k_[region][position];
    if (m < 0 || tap < 0) return 0;
    return parts_.of(problem_.weight(m, tap, c), part_at(region, position));
  }

  // The output channel of a lane, or -1 where the block's lanes exceed its channels.
  int channel(const ChannelBlock& block, int b, int v, int lane, int g) const {
    const bool natural = step_->plan.out.kind == Requantize::Kind::kInt32;
    int in_block = natural ? v * isa_.lanes + lane : channel_of(isa_, block.vectors, v, lane);
    if (block.form != BlockForm::kWhole) in_block = lane / 2;
    if (in_block >= block.channels) return -1;
    return static_cast<int>(g * geometry().out_per_group()) + block.first + b * block.channels +
           in_block;
  }

  // Calls body(channel or -1, block, lane) for every lane of "bias" and "scale", in order.
  template <class Body>
  void each_lane(Body body) {
    for (int g = 0; g < geometry().group; ++g) {
      for (const ChannelBlock& block : plan().blocks) {
        for (int b = 0; b < block.repeat; ++b) {
          for (int v = 0; v < block.vectors; ++v) {
            for (int lane = 0; lane < isa_.lanes; ++lane)
              body(channel(block, b, v, lane, g), block, lane);
          }
        }
      }
    }
  }

  void pack_lanes() {
    std::vector<std::int32_t> bias;
    const auto append_biases = [&](const std::vector<int>& taps) {
      each_lane([&](int m, const ChannelBlock& block, int lane) {
        const bool second = block.form == BlockForm::kSplit && lane % 2 != 0;  // of one sum
        bias.push_back(m < 0 || second ? 0 : folded_bias(problem_, m, taps));
      });
    };
    std::map<std::vector<int>, std::int64_t> known;  // regions with the same taps share biases
    for (std::size_t r = 0; r < plan().regions.size(); ++r) {
      ConvRegion& region = plan().regions[r];
      if (region.grid) {
        region.bias = static_cast<std::int64_t>(bias.size());
        region.grid->bias_step = geometry().group * plan().lanes_per_group;
        for (const std::vector<int>& taps : tap_sets(*region.grid)) append_biases(taps);
        continue;
      }
      const std::vector<int> taps = tap_set(k_[r]);
      const auto [it, inserted] = known.emplace(taps, static_cast<std::int64_t>(bias.size()));
      region.bias = it->second;
      if (inserted) append_biases(taps);
    }
    step_->constants.push_back(
        int32_array("bias", bias, "bias - x_zero_point * sum(w), in lane order"));
    if (plan().out.kind == Requantize::Kind::kInt32) return;
    if (plan().out.kind == Requantize::Kind::kInteger) {
      std::vector<int> lanes;
      each_lane([&](int m, const ChannelBlock&, int) { lanes.push_back(m); });
      step_->constants.push_back(
          requantize_constants(*step_, plan().out.integer, lanes, isa_.lanes));
      return;
    }
    std::vector<float> scale;
    each_lane([&](int m, const ChannelBlock&, int) {
      scale.push_back(m < 0 ? 1.0F : problem_.scale[static_cast<std::size_t>(m)]);
    });
    step_->constants.push_back(
        float_array("scale", scale, "x_scale * w_scale / y_scale, in lane order"));
  }

  static std::vector<int> tap_set(const std::vector<std::pair<int, int>>& k) {
    std::set<int> taps;
    for (const auto& [tap, c] : k) {
      if (tap >= 0) taps.insert(tap);
    }
    return {taps.begin(), taps.end()};
  }

  std::string weights_comment() const {
    return cat("packed for ", isa_.lanes, " lanes: block, tap run, 4 bytes of K, vector, lane");
  }

  void describe() {
    const std::int64_t pixels = element_count(problem_.y.shape) / problem_.y.shape[1];
    step_->macs = pixels * geometry().out_channels * geometry().in_per_group() * problem_.taps();
    if (geometry().direction == ConvDirection::kTransposed) {
      const std::int64_t x_pixels = element_count(problem_.x.shape) / problem_.x.shape[1];
      step_->macs =
          x_pixels * geometry().in_channels * geometry().out_per_group() * problem_.taps();
    }
    step_->schedule = describe_tiles(plan());
    if (step_->from_file)
      step_->facts.emplace_back("tile, loops and unrolling come from a tuning file");
    if (parts_.count > 1) {
      step_->facts.push_back(cat("weights minus zero point need 9 bits: issued as a sum of ",
                                 parts_.count, " int8 parts, ", most_groups_ - first_part_,
                                 " groups of 4 besides ", first_part_));
    }
  }

  // Every tile reads all it needs of x and of the residual before any later tile, and writes y in
  // order, when pixels are the outer loop of a single region.
  void add_overlaps() {
    const ConvRegion& r = plan().regions.front();
    const bool in_order = plan().regions.size() == 1 && plan().axes.empty() && r.planes == 1 &&
                          plan().order == LoopOrder::kPixelsOutside &&
                          bytes_of(problem_.y.dtype) == 1 && !r.runs.empty();
    if (!in_order) return;
    const int y = plan().add ? 2 : 1;
    const std::int64_t from_x = overlap_distance(r, {r.x_offset, r.x_row, r.x_col});
    step_->overlaps.push_back({y, 0, from_x + problem_.y.offset - problem_.x.offset});
    if (!plan().add) return;
    const std::int64_t from_residual = overlap_distance(r, {r.r_offset, r.r_row, r.r_col});
    step_->overlaps.push_back(
        {y, 1, from_residual + problem_.y.offset - problem_.residual->view.offset});
  }

  struct Reading {
    std::int64_t offset, row, col;  // bytes
  };

  // The most that a tile has written of y beyond the first byte that it may still have read.
  std::int64_t overlap_distance(const ConvRegion& r, const Reading& from) const {
    std::int64_t distance = std::numeric_limits<std::int64_t>::min();
    for (int row = 0; row < r.rows; row += r.tile_rows) {
      const int last_row = std::min(row + r.tile_rows, r.rows) - 1;
      for (int col = 0; col < r.cols; col += r.tile_cols) {
        const int last_col = std::min(col + r.tile_cols, r.cols) - 1;
        const std::int64_t written =
            r.y_offset + last_row * r.y_row + last_col * r.y_col + geometry().out_channels;
        const std::int64_t needed = from.offset + row * from.row + col * from.col;
        distance = std::max(distance, written - needed);
      }
    }
    return distance;
  }

  const ConvProblem& problem_;
  const IsaTraits& isa_;
  const Tuning& tuning_;
  Axes3 axes_;
  Parts parts_;
  std::vector<std::vector<std::pair<int, int>>> k_;  // per region
  std::vector<std::vector<std::size_t>> part_ends_;  // per region and part: where in k_ it ends
  std::size_t first_part_ = 0, most_groups_ = 0;     // groups of the region that has most
  std::unique_ptr<ConvStep> step_;
};

}  // namespace

std::unique_ptr<ConvStep> make_conv_step(const ConvProblem& problem, const IsaTraits& isa,
                                         const Tuning& tuning) {
  return Builder(problem, isa, tuning).build();
}

}  // namespace etch
