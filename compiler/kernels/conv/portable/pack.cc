// See pack.h.
#include "compiler/kernels/conv/portable/pack.h"

#include <map>
#include <set>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/kernels/conv/portable/shared_weights.h"
#include "compiler/kernels/conv/portable/sums16.h"
#include "compiler/kernels/conv/tap_grids.h"
#include "compiler/program/constants.h"
#include "compiler/program/requantization.h"

namespace etch {

namespace {

// What all of this reads.
struct Source {
  const ConvProblem& problem;
  const IsaTraits& isa;
  const PlannedConv& conv;
};

// The output channel of a lane, or -1 where the block's lanes exceed its channels.
int channel_at(const Source& from, const ChannelBlock& block, int b, int v, int lane, int g) {
  const bool natural = from.conv.plan.out.kind == Requantize::Kind::kInt32;
  int in_block = natural ? v * from.isa.lanes + lane : channel_of(from.isa, block.vectors, v, lane);
  if (is_half(block.form)) in_block = lane / 2;
  if (in_block >= block.channels) return -1;
  return static_cast<int>(g * from.problem.geometry.out_per_group()) + block.first +
         b * block.channels + in_block;
}

// ---- weights ----

int packed_weight(const Source& from, int m, const KByte& at, int part) {
  const int w = from.problem.weight(m, at.first, at.second);
  const bool words = from.isa.weight_form != WeightForm::kS8x4 && from.conv.parts.shared == 0;
  return words ? w : from.conv.parts.of(w, part);
}

void pack_block(const Source& from, const ChannelBlock& block, const RegionTaps& taps, int g,
                std::vector<std::byte>& out) {
  LaneWeights lanes(static_cast<std::size_t>(from.isa.lanes));
  for (int b = 0; b < block.repeat; ++b) {
    for (std::size_t k0 = 0; k0 < taps.k.size(); k0 += 4) {
      const int part = taps.part_at(k0);
      for (int v = 0; v < block.vectors; ++v) {
        for (int lane = 0; lane < from.isa.lanes; ++lane) {
          const int m = channel_at(from, block, b, v, lane, g);
          for (std::size_t i = 0; i < 4; ++i) {
            const bool inside = m >= 0 && taps.k[k0 + i].first >= 0;
            lanes[static_cast<std::size_t>(lane)][i] =
                inside ? packed_weight(from, m, taps.k[k0 + i], part) : 0;
          }
        }
        if (block.form == BlockForm::kLanes) {
          append_moved_weights(out, from.isa, lanes);
        } else if (block.form == BlockForm::kBytes) {
          append_byte_weights(out, lanes);
        } else {
          append_weights(out, from.isa, lanes);
        }
      }
    }
  }
}

// The part of channel m's weight that the byte `at` of K multiplies.
int weight_at(const Source& from, int m, const RegionTaps& taps, std::int64_t at) {
  const auto position = static_cast<std::size_t>(at);
  const auto [tap, c] = taps.k[position];
  if (m < 0 || tap < 0) return 0;
  return from.conv.parts.of(from.problem.weight(m, tap, c), taps.part_at(position));
}

// Lanes 2i and 2i + 1 are one channel; their bytes of K differ (half_vectors.h).
void pack_halves(const Source& from, const ChannelBlock& block, std::size_t r, int g,
                 std::vector<std::byte>& out) {
  const ConvRegion& region = from.conv.plan.regions[r];
  const bool pairs = block.form == BlockForm::kPairs;
  LaneWeights lanes(static_cast<std::size_t>(from.isa.lanes));
  std::int64_t start = 0;  // of the repetition, in k
  for (const KRun& run : region.runs) {
    for (int repeat = 0; repeat < run.repeat; ++repeat, start += 4 * run.groups) {
      for (int group = 0; group < region.groups_of(run, block.form); ++group) {
        for (int lane = 0; lane < from.isa.lanes; ++lane) {
          const int m = channel_at(from, block, 0, 0, lane, g);
          const std::int64_t first =
              (pairs ? 4 : 8) * group + lane % 2 * (pairs ? 4 - region.x_col : 4);
          for (std::int64_t i = 0; i < 4; ++i) {
            const bool inside = first + i >= 0 && first + i < 4 * run.groups;
            lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] =
                inside ? weight_at(from, m, from.conv.taps[r], start + first + i) : 0;
          }
        }
        append_weights(out, from.isa, lanes);
      }
    }
  }
}

// Vector v holds 8 bytes of K of the block's channels 2v and 2v + 1 (lane_tile.h).
void pack_squares(const Source& from, const ChannelBlock& block, std::size_t r, int g,
                  std::vector<std::byte>& out) {
  const ConvRegion& region = from.conv.plan.regions[r];
  for (int b = 0; b < block.repeat; ++b) {
    std::int64_t start = 0;  // of the repetition, in k
    for (const KRun& run : region.runs) {
      for (int repeat = 0; repeat < run.repeat; ++repeat, start += 4 * run.groups) {
        for (int step = 0; step < region.groups_of(run, block.form); ++step) {
          for (int channel = 0; channel < block.vectors * from.isa.lanes; ++channel) {
            const int lane = channel % from.isa.lanes;
            const int m = channel_at(from, block, b, channel / from.isa.lanes, lane, g);
            for (int at = 8 * step; at < 8 * step + 8; ++at) {
              const int w =
                  at < 4 * run.groups ? weight_at(from, m, from.conv.taps[r], start + at) : 0;
              out.push_back(static_cast<std::byte>(w & 0xff));
            }
          }
        }
      }
    }
  }
}

// The first or the second parts of a group of 4 bytes of K, from taps.k[k0] on.
void pack_parts(const Source& from, const ChannelBlock& block, int b, int g, std::size_t k0,
                bool second, std::vector<std::byte>& out) {
  const RegionTaps& taps = from.conv.taps.front();
  for (int lane = 0; lane < block.vectors * from.isa.lanes; ++lane) {
    const int m = channel_at(from, block, b, lane / from.isa.lanes, lane % from.isa.lanes, g);
    for (std::size_t k = k0; k < k0 + 4; k += 2) {
      const auto at = static_cast<std::int64_t>(k);
      const TwoParts parts =
          two_parts(weight_at(from, m, taps, at), weight_at(from, m, taps, at + 1));
      for (const int w : second ? parts.second : parts.first)
        out.push_back(static_cast<std::byte>(w & 0xff));
    }
  }
}

// Where the bytes of group k0 / 4 are, from the taps' origin on.
std::int64_t place_of_group(const ConvRegion& region, std::size_t k0) {
  auto group = static_cast<std::int64_t>(k0 / 4);
  for (const KRun& run : region.runs) {
    const std::int64_t groups = std::int64_t{run.repeat} * run.groups;
    if (group < groups)
      return run.x_offset + group / run.groups * run.repeat_step + group % run.groups * 4;
    group -= groups;
  }
  ETCH_CHECK(false);
}

// A panel of kSums16: first parts, `rest` groups of second parts, and their places.
void pack_sums16(const Source& from, const ChannelBlock& block, int b, int g,
                 std::vector<std::byte>& out, std::vector<ByteRange>& places) {
  const ConvRegion& region = from.conv.plan.regions.front();
  const RegionTaps& taps = from.conv.taps.front();
  const std::int64_t first =
      std::int64_t{g} * from.problem.geometry.out_per_group() + block.first + b * block.channels;
  std::vector<std::size_t> rest;
  for (std::size_t k0 = 0; k0 < taps.k.size(); k0 += 4) {
    pack_parts(from, block, b, g, k0, false, out);
    if (has_second_parts(from.problem, taps, k0, first, block.channels)) rest.push_back(k0);
  }
  ETCH_CHECK(std::ssize(rest) <= region.rest);
  for (const std::size_t k0 : rest) pack_parts(from, block, b, g, k0, true, out);
  const std::int64_t unused = region.rest - std::ssize(rest);
  out.resize(out.size() +
             static_cast<std::size_t>(unused * block.step_bytes(from.isa.weight_bytes())));
  const std::size_t start = out.size();
  out.resize(start +
             static_cast<std::size_t>(region.bytes_of_places(block, from.isa.weight_bytes())));
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const auto place = static_cast<std::uint32_t>(place_of_group(region, rest[i]));
    for (std::size_t k = 0; k < 4; ++k)
      out[start + 4 * i + k] = static_cast<std::byte>(place >> (8 * k));
  }
  if (region.rest > 0) places.push_back({start, out.size()});
}

// All blocks of a region in one group.
std::vector<std::byte> region_weights(const Source& from, std::size_t r, int g,
                                      std::vector<ByteRange>& places) {
  std::vector<std::byte> out;
  for (const ChannelBlock& block : from.conv.plan.blocks) {
    if (is_half(block.form)) {
      pack_halves(from, block, r, g, out);
    } else if (block.form == BlockForm::kSquares) {
      pack_squares(from, block, r, g, out);
    } else if (block.form == BlockForm::kSums16) {
      for (int b = 0; b < block.repeat; ++b) pack_sums16(from, block, b, g, out, places);
    } else {
      pack_block(from, block, from.conv.taps[r], g, out);
    }
  }
  return out;
}

ConstantArray pack_weights(const Source& from, PackedConv& places) {
  const std::vector<SharedWeights> shared = shared_weights(from.conv);
  std::vector<std::byte> all;
  std::vector<ByteRange> other;
  for (int g = 0; g < static_cast<int>(from.problem.geometry.group); ++g) {
    const std::size_t start = all.size();
    for (std::size_t r = 0; r < places.regions.size(); ++r) {
      if (!shared[r].places.empty()) continue;
      places.regions[r].weights = static_cast<std::int64_t>(all.size() - start);
      std::vector<ByteRange> here;
      const std::vector<std::byte> weights = region_weights(from, r, g, here);
      for (const ByteRange& range : here)
        other.push_back({all.size() + range.begin, all.size() + range.end});
      all.insert(all.end(), weights.begin(), weights.end());
    }
    places.weights_per_group = static_cast<std::int64_t>(all.size() - start);
  }
  for (std::size_t r = 0; r < places.regions.size(); ++r) {
    if (shared[r].places.empty()) continue;
    places.regions[r].weights = places.regions[shared[r].region].weights;
    places.regions[r].places = shared[r].places;
    places.regions[r].shared_groups = shared[r].groups;
  }
  ConstantArray out = byte_array("weights", std::move(all),
                                 cat("packed for ", counted(from.isa.lanes, "lane"),
                                     ": block, tap run, 4 bytes of K, vector, lane",
                                     other.empty() ? "" : "; second parts and their places"));
  out.widened = from.conv.plan.bytes;
  out.sums16 = from.conv.plan.sums16;
  out.no_weights = std::move(other);
  return out;
}

// ---- biases and factors ----

struct Lane {
  int channel = -1;             // -1: none
  bool is_second_half = false;  // of a sum that starts in the lane before
  int moved = 0;                // what its products take from every x
};

// Those of "bias" and of what requantization reads, in order.
std::vector<Lane> lanes_of(const Source& from) {
  std::vector<Lane> out;
  for (int g = 0; g < from.problem.geometry.group; ++g) {
    for (const ChannelBlock& block : from.conv.plan.blocks) {
      for (int b = 0; b < block.repeat; ++b) {
        for (int v = 0; v < block.vectors; ++v) {
          for (int lane = 0; lane < from.isa.lanes; ++lane) {
            out.push_back({channel_at(from, block, b, v, lane, g),
                           block.form == BlockForm::kSplit && lane % 2 != 0,
                           block.form == BlockForm::kLanes ? from.isa.moved : 0});
          }
        }
      }
    }
  }
  return out;
}

std::vector<int> tap_set(const std::vector<KByte>& k) {
  std::set<int> taps;
  for (const auto& [tap, c] : k) {
    if (tap >= 0) taps.insert(tap);
  }
  return {taps.begin(), taps.end()};
}

ConstantArray pack_bias(const Source& from, const std::vector<Lane>& lanes, PackedConv& places) {
  std::vector<std::int32_t> bias;
  const auto append = [&](const std::vector<int>& taps) {
    for (const Lane& lane : lanes) {
      const bool zero = lane.channel < 0 || lane.is_second_half;
      bias.push_back(zero ? 0 : folded_bias(from.problem, lane.channel, taps, lane.moved));
    }
  };
  std::map<std::vector<int>, std::int64_t> known;  // regions with the same taps share biases
  for (std::size_t r = 0; r < places.regions.size(); ++r) {
    const std::optional<TapGrid>& grid = from.conv.plan.regions[r].grid;
    const auto here = static_cast<std::int64_t>(bias.size());
    if (grid) {
      places.regions[r].bias = here;
      for (const std::vector<int>& taps : tap_sets(*grid)) append(taps);
      continue;
    }
    const std::vector<int> taps = tap_set(from.conv.taps[r].k);
    const auto [it, inserted] = known.emplace(taps, here);
    places.regions[r].bias = it->second;
    if (inserted) append(taps);
  }
  return int32_array("bias", bias, "bias - x_zero_point * sum(w), in lane order");
}

// What requantization reads.
ConstantArray factors_of(const Source& from, const std::vector<Lane>& lanes) {
  const Requantize& out = from.conv.plan.out;
  if (out.kind == Requantize::Kind::kInteger) {
    std::vector<int> channels;
    channels.reserve(lanes.size());
    for (const Lane& lane : lanes) channels.push_back(lane.channel);
    return requantize_constants(from.conv.proof.requantized, out.integer, channels, from.isa.lanes);
  }
  std::vector<float> scale;
  for (const Lane& lane : lanes) {
    const int m = lane.channel;
    scale.push_back(m < 0 ? 1.0F : from.problem.scale[static_cast<std::size_t>(m)]);
  }
  return float_array("scale", scale, "x_scale * w_scale / y_scale, in lane order");
}

}  // namespace

PackedConv pack_conv(const ConvProblem& problem, const IsaTraits& isa, const PlannedConv& conv) {
  const Source from{problem, isa, conv};
  const std::vector<Lane> lanes = lanes_of(from);
  PackedConv out;
  out.regions.resize(conv.plan.regions.size());
  out.constants.push_back(pack_weights(from, out));
  out.constants.push_back(pack_bias(from, lanes, out));
  if (conv.plan.out.kind != Requantize::Kind::kInt32)
    out.constants.push_back(factors_of(from, lanes));
  return out;
}

ConstantArray pack_factors(const ConvProblem& problem, const IsaTraits& isa,
                           const PlannedConv& conv) {
  const Source from{problem, isa, conv};
  return factors_of(from, lanes_of(from));
}

ConvPlan placed(ConvPlan plan, const ConvProblem& problem, const PackedConv& packed) {
  plan.weights_per_group = packed.weights_per_group;
  for (std::size_t r = 0; r < plan.regions.size(); ++r) {
    ConvRegion& region = plan.regions[r];
    region.weights = packed.regions[r].weights;
    region.places = packed.regions[r].places;
    region.shared_groups = packed.regions[r].shared_groups;
    region.bias = packed.regions[r].bias;
    if (region.grid) region.grid->bias_step = problem.geometry.group * plan.lanes_per_group;
  }
  return plan;
}

}  // namespace etch
