// See pack.h.
#include "compiler/kernels/conv/depthwise/pack.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/program/constants.h"
#include "compiler/program/requantization.h"

namespace etch {

namespace {

using Taps = PlannedDepthwise::Taps;

struct Source {
  const ConvProblem& problem;
  const IsaTraits& isa;
};

std::int64_t kernel_columns(const Source& from) { return from.problem.geometry.axes.back().kernel; }

int channel_at(const Source& from, int phase, int v, int lane) {
  return (phase * from.isa.byte_lanes() + channel_of(from.isa, 4, v, lane)) %
         static_cast<int>(from.problem.geometry.in_channels);
}

// The channels of all lanes of so many phases, in order.
std::vector<int> channels_of(const Source& from, int phases) {
  std::vector<int> out;
  for (int phase = 0; phase < phases; ++phase) {
    for (int v = 0; v < 4; ++v) {
      for (int lane = 0; lane < from.isa.lanes; ++lane)
        out.push_back(channel_at(from, phase, v, lane));
    }
  }
  return out;
}

// Weights of kernel rows `first` .. `first` + 3 of one column; zero outside the taps.
LaneWeights vector_of(const Source& from, const Segment& row, int kernel_col, int first, int phase,
                      int v) {
  LaneWeights lanes(static_cast<std::size_t>(from.isa.lanes));
  for (int lane = 0; lane < from.isa.lanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int tap = first + i;
      if (tap < 0 || tap >= static_cast<int>(row.taps.size())) continue;
      const std::int64_t kernel_row = row.taps[static_cast<std::size_t>(tap)].kernel;
      lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] = from.problem.weight(
          channel_at(from, phase, v, lane), kernel_row * kernel_columns(from) + kernel_col, 0);
    }
  }
  return lanes;
}

// What a pass over `rows` output rows reads.
void append_pass(const Source& from, const Taps& taps, int rows, std::vector<std::byte>& weights) {
  const auto count = static_cast<int>(taps.rows.taps.size()) + rows - 1;
  for (int phase = 0; phase < taps.phases; ++phase) {
    for (const SegmentTap& tap : taps.cols.taps) {
      for (int first = 0; first < count; first += 4) {
        for (int r = 0; r < rows; ++r) {
          for (int v = 0; v < 4; ++v) {
            append_weights(weights, from.isa,
                           vector_of(from, taps.rows, tap.kernel, first - r, phase, v));
          }
        }
      }
    }
  }
}

ConstantArray pack_weights(const Source& from, const PlannedDepthwise& conv,
                           std::vector<PackedDepthwise::Region>& places) {
  std::vector<std::byte> weights;
  for (std::size_t r = 0; r < places.size(); ++r) {
    const DepthwiseRegion& region = conv.plan.regions[r];
    places[r].weights = std::ssize(weights);
    append_pass(from, conv.taps[r], region.rows_together, weights);
    if (region.rows_together == 1 || region.rows % 2 == 0) continue;
    places[r].weights_single = std::ssize(weights);
    append_pass(from, conv.taps[r], 1, weights);
  }
  return byte_array("weights", std::move(weights),
                    cat("packed for ", counted(from.isa.lanes, "lane"),
                        ": chunk, tap, row, vector, lane, 4 kernel rows"));
}

ConstantArray pack_bias(const Source& from, const PlannedDepthwise& conv,
                        std::vector<PackedDepthwise::Region>& places) {
  std::vector<std::int32_t> bias;
  for (std::size_t r = 0; r < places.size(); ++r) {
    std::vector<int> taps;
    for (const SegmentTap& row : conv.taps[r].rows.taps) {
      for (const SegmentTap& col : conv.taps[r].cols.taps)
        taps.push_back(static_cast<int>(row.kernel * kernel_columns(from) + col.kernel));
    }
    places[r].bias = std::ssize(bias);
    for (const int m : channels_of(from, conv.taps[r].phases))
      bias.push_back(folded_bias(from.problem, m, taps));
  }
  return int32_array("bias", bias, "bias - x_zero_point * sum(w), in lane order");
}

// What requantization needs, for the lanes of every phase.
ConstantArray pack_factors(const Source& from, const PlannedDepthwise& conv) {
  int phases = 0;
  for (const Taps& taps : conv.taps) phases = std::max(phases, taps.phases);
  const std::vector<int> channels = channels_of(from, phases);
  const Requantize& out = conv.plan.out;
  if (out.kind == Requantize::Kind::kInteger)
    return requantize_constants(conv.proof.requantized, out.integer, channels, from.isa.lanes);
  std::vector<float> scale;
  for (const int m : channels) scale.push_back(from.problem.scale[static_cast<std::size_t>(m)]);
  return float_array("scale", scale, "x_scale * w_scale / y_scale, in lane order");
}

}  // namespace

PackedDepthwise pack_depthwise(const ConvProblem& problem, const IsaTraits& isa,
                               const PlannedDepthwise& conv) {
  const Source from{problem, isa};
  PackedDepthwise out;
  out.regions.resize(conv.plan.regions.size());
  out.constants.push_back(pack_weights(from, conv, out.regions));
  out.constants.push_back(pack_bias(from, conv, out.regions));
  out.constants.push_back(pack_factors(from, conv));
  return out;
}

DepthwisePlan placed(DepthwisePlan plan, const PackedDepthwise& packed) {
  for (std::size_t r = 0; r < plan.regions.size(); ++r) {
    plan.regions[r].weights = packed.regions[r].weights;
    plan.regions[r].weights_single = packed.regions[r].weights_single;
    plan.regions[r].bias = packed.regions[r].bias;
  }
  return plan;
}

}  // namespace etch
