// See pack.h.
#include "compiler/kernels/conv/depthwise/pack.h"

#include <array>
#include <map>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/program/constants.h"
#include "compiler/program/requantization.h"

namespace etch {

namespace {

struct Source {
  const ConvProblem& problem;
  const IsaTraits& isa;
  const PlannedDepthwise& conv;
};

int channel_at(const Source& from, int phase, int v, int lane) {
  return (phase * from.isa.byte_lanes() + channel_of(from.isa, 4, v, lane)) %
         static_cast<int>(from.problem.geometry.in_channels);
}

// The channels of all lanes, phase after phase.
std::vector<int> channels_of(const Source& from) {
  std::vector<int> out;
  for (int phase = 0; phase < from.conv.phases; ++phase) {
    for (int v = 0; v < 4; ++v) {
      for (int lane = 0; lane < from.isa.lanes; ++lane)
        out.push_back(channel_at(from, phase, v, lane));
    }
  }
  return out;
}

// Four vectors of a phase: lane by lane value(channel, place in the quad).
template <class Value>
void append_vectors(const Source& from, int phase, std::vector<std::byte>& weights, Value value) {
  LaneWeights lanes(static_cast<std::size_t>(from.isa.lanes));
  for (int v = 0; v < 4; ++v) {
    for (int lane = 0; lane < from.isa.lanes; ++lane) {
      const int m = channel_at(from, phase, v, lane);
      for (std::size_t i = 0; i < 4; ++i) lanes[static_cast<std::size_t>(lane)][i] = value(m, i);
    }
    if (from.conv.plan.moved == 0) {
      append_weights(weights, from.isa, lanes);
    } else {
      append_moved_weights(weights, from.isa, lanes);
    }
  }
}

// Quads without d, then d for each set of places.
void append_panel(const Source& from, const PanelTaps& panel, std::vector<std::byte>& weights) {
  const auto shift_of = [&](int m) { return from.conv.shifts[static_cast<std::size_t>(m)]; };
  for (int phase = 0; phase < from.conv.phases; ++phase) {
    for (const PanelQuad& quad : panel.quads) {
      for (int r = 0; r < panel.rows; ++r) {
        append_vectors(from, phase, weights, [&](int m, std::size_t i) {
          const int tap = quad.taps[static_cast<std::size_t>(r)][i];
          return tap < 0 ? 0 : from.problem.weight(m, tap, 0) - shift_of(m);
        });
      }
    }
    for (const std::array<bool, 4>& places : panel.places) {
      for (int part = 0; part < from.conv.plan.parts; ++part) {
        append_vectors(from, phase, weights, [&](int m, std::size_t i) {
          return places[i] ? part_of_shift(shift_of(m), part) : 0;
        });
      }
    }
  }
}

ConstantArray pack_weights(const Source& from, PackedDepthwise& places) {
  std::vector<std::byte> weights;
  const auto append = [&](const PanelTaps& panel) {
    DepthwisePanel out;
    out.rows = panel.rows;
    out.quads = static_cast<int>(panel.quads.size());
    out.shifts = static_cast<int>(panel.places.size()) * from.conv.plan.parts;
    out.weights = std::ssize(weights);
    append_panel(from, panel, weights);
    return out;
  };
  places.pair = append(from.conv.pair);
  places.single = append(from.conv.single);
  return byte_array("weights", std::move(weights),
                    cat("packed for ", counted(from.isa.lanes, "lane"),
                        ": chunk, quad of taps, row, vector, lane, 4 taps"));
}

// Regions with the same taps share biases.
ConstantArray pack_bias(const Source& from, PackedDepthwise& places) {
  std::vector<std::int32_t> bias;
  std::map<std::vector<int>, std::int64_t> known;
  for (const std::vector<int>& taps : from.conv.taps) {
    const auto [it, inserted] = known.emplace(taps, std::ssize(bias));
    places.bias.push_back(it->second);
    if (!inserted) continue;
    for (const int m : channels_of(from))
      bias.push_back(folded_bias(from.problem, m, taps, from.conv.plan.moved));
  }
  return int32_array("bias", bias, "bias - x_zero_point * sum(w), in lane order");
}

// What requantization needs, for the lanes of every phase.
ConstantArray pack_factors(const Source& from) {
  const std::vector<int> channels = channels_of(from);
  const Requantize& out = from.conv.plan.out;
  if (out.kind == Requantize::Kind::kInteger) {
    return requantize_constants(from.conv.proof.requantized, out.integer, channels, from.isa.lanes);
  }
  std::vector<float> scale;
  scale.reserve(channels.size());
  for (const int m : channels) scale.push_back(from.problem.scale[static_cast<std::size_t>(m)]);
  return float_array("scale", scale, "x_scale * w_scale / y_scale, in lane order");
}

}  // namespace

PackedDepthwise pack_depthwise(const ConvProblem& problem, const IsaTraits& isa,
                               const PlannedDepthwise& conv) {
  const Source from{problem, isa, conv};
  PackedDepthwise out;
  out.constants.push_back(pack_weights(from, out));
  out.constants.push_back(pack_bias(from, out));
  if (conv.plan.out.kind != Requantize::Kind::kInt32) out.constants.push_back(pack_factors(from));
  return out;
}

DepthwisePlan placed(DepthwisePlan plan, const PackedDepthwise& packed) {
  plan.single = packed.single;
  plan.pair = packed.pair;
  for (std::size_t r = 0; r < plan.regions.size(); ++r) plan.regions[r].bias = packed.bias[r];
  return plan;
}

}  // namespace etch
