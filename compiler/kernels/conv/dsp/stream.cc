// See stream.h.
#include "compiler/kernels/conv/dsp/stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "compiler/kernels/conv/dsp/joint.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/proof.h"

namespace etch {
namespace {

using Form = DspConvPlan::Form;

class Packer {
 public:
  Packer(const ConvProblem& problem, const DspConvPlan& plan,
         const std::vector<RequantizedChannel>& requantized)
      : problem_(problem), plan_(plan), requantized_(requantized) {}

  void pack_group(std::int64_t group) {
    const int together = channels_of_block(plan_);
    for (int first = 0; first < plan_.channels; first += together) {
      std::vector<std::int64_t> channels;
      channels.reserve(static_cast<std::size_t>(together));
      for (int c = 0; c < together; ++c)
        channels.push_back(first + c < plan_.channels ? group * plan_.channels + first + c : -1);
      pack_block(channels);
    }
  }

  const std::vector<std::int32_t>& stream() const { return stream_; }

 private:
  void pack_block(const std::vector<std::int64_t>& channels) {
    push_biases(channels);
    if (plan_.form == Form::kDepthwise && (!plan_.halves || plan_.byte_weights)) {
      for (int tap = 0; tap < problem_.taps(); ++tap) {
        push_bytes({weight(channels[0], tap, 0), weight(channels[1], tap, 0),
                    weight(channels[2], tap, 0), weight(channels[3], tap, 0)});
      }
    } else if (plan_.form == Form::kDirect) {
      pack_pairs(channels);
    } else if (plan_.form == Form::kDepthwise) {
      for (int tap = 0; tap < problem_.taps(); ++tap) {
        for (std::size_t c = 0; c < 2; ++c)
          push_halves(weight(channels[c], tap, 0), weight(channels[c + 2], tap, 0));
      }
    } else {
      each_word([&](const std::vector<std::pair<int, int>>& k) { pack_word(channels, k); });
    }
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const bool joined = is_second(c) && plan_.store.result == rt::kDspFloat;
      for (const std::int32_t word : stream_factors(problem_, plan_, requantized_, channels[c]))
        stream_.push_back(joined ? without_joint_factor(word) : word);
    }
  }

  // Of those whose sums hold both channels.
  bool is_second(std::size_t channel) const { return plan_.joint && channel % 2 == 1; }
  int joint_factor() const { return plan_.nibbles ? kNibbleFactor : kJointFactor; }

  // A float divided by what the sum of a second channel is too large.
  std::int32_t without_joint_factor(std::int32_t scale) const {
    return std::bit_cast<std::int32_t>(std::bit_cast<float>(scale) /
                                       static_cast<float>(joint_factor()));
  }

  // With joint weights, every second sum holds both channels.
  void push_biases(const std::vector<std::int64_t>& channels) {
    std::uint32_t first = 0;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const auto bias = static_cast<std::uint32_t>(stream_bias(problem_, channels[c]));
      const auto factor = static_cast<std::uint32_t>(joint_factor());
      stream_.push_back(static_cast<std::int32_t>(is_second(c) ? first + factor * bias : bias));
      first = bias;
    }
  }

  int weight(std::int64_t m, std::int64_t tap, std::int64_t c) const {
    return (m < 0 || tap < 0 ? 0 : problem_.weight(m, tap, c)) - plan_.moved;
  }

  // Calls body((tap, channel) of 4 elements of K, tap -1 after a run) in the order of the gather.
  template <class Body>
  void each_word(Body body) const {
    const auto channels = static_cast<int>(problem_.geometry.in_per_group());
    const auto taps_of_run = static_cast<int>(problem_.taps()) / (plan_.pieces * plan_.runs);
    const int elements = taps_of_run * channels;
    int tap = 0;
    for (int run = 0; run < plan_.pieces * plan_.runs; ++run, tap += taps_of_run) {
      for (int word = 0; word < plan_.words; ++word) {
        std::vector<std::pair<int, int>> k;
        for (int i = 4 * word; i < 4 * word + 4; ++i)
          k.emplace_back(i < elements ? tap + i / channels : -1, i % channels);
        body(k);
      }
    }
  }

  void pack_word(const std::vector<std::int64_t>& channels,
                 const std::vector<std::pair<int, int>>& k) {
    const auto at = [&](std::int64_t m, std::size_t i) {
      return weight(m, k[i].first, k[i].second);
    };
    if (plan_.nibbles) {
      for (std::size_t c = 0; c < channels.size(); c += 2) {
        std::array<int, 4> bytes{};
        for (std::size_t i = 0; i < 4; ++i)
          bytes[i] = at(channels[c], i) + kNibbleFactor * (at(channels[c + 1], i) - kNibbleMoved);
        push_bytes(bytes);
      }
      return;
    }
    if (plan_.joint) {
      for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t c = 0; c < channels.size(); c += 2) {
          const auto pair = [&](std::size_t at_k) {
            return at(channels[c], at_k) + kJointFactor * at(channels[c + 1], at_k);
          };
          push_halves(pair(i), pair(i + 2));
        }
      }
      return;
    }
    if (plan_.form == Form::kRow) {
      for (const std::int64_t m : channels) push_bytes({at(m, 0), at(m, 1), at(m, 2), at(m, 3)});
      return;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      push_bytes(
          {at(channels[0], i), at(channels[1], i), at(channels[0], i + 2), at(channels[1], i + 2)});
    }
  }

  // A byte of each channel per element of K, in the order of x.
  void pack_pairs(const std::vector<std::int64_t>& channels) {
    const std::int64_t per_tap = problem_.geometry.in_per_group();
    const std::int64_t elements = problem_.taps() * per_tap;
    const auto at = [&](std::int64_t m, std::int64_t k) {
      return k < elements ? weight(m, k / per_tap, k % per_tap) : 0;
    };
    if (plan_.low) {
      pack_planar(channels, at, elements);
      return;
    }
    for (std::int64_t k = 0; k < elements; k += 2) {
      push_bytes(
          {at(channels[0], k), at(channels[1], k), at(channels[0], k + 1), at(channels[1], k + 1)});
    }
  }

  // All of K of the first channel, then of the second.
  template <class At>
  void pack_planar(const std::vector<std::int64_t>& channels, At at, std::int64_t elements) {
    for (std::int64_t i = 0; i < 2 * elements; i += 4) {
      std::array<int, 4> bytes{};
      for (std::int64_t k = i; k < std::min(i + 4, 2 * elements); ++k)
        bytes[static_cast<std::size_t>(k - i)] =
            at(channels[static_cast<std::size_t>(k / elements)], k % elements);
      push_bytes(bytes);
    }
  }

  void push_bytes(const std::array<int, 4>& bytes) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i)
      word |= (static_cast<std::uint32_t>(bytes[i]) & 0xff) << (8 * i);
    stream_.push_back(static_cast<std::int32_t>(word));
  }

  void push_halves(int low, int high) {
    const std::uint32_t word =
        (static_cast<std::uint32_t>(low) & 0xffff) | static_cast<std::uint32_t>(high) << 16;
    stream_.push_back(static_cast<std::int32_t>(word));
  }

  const ConvProblem& problem_;
  const DspConvPlan& plan_;
  const std::vector<RequantizedChannel>& requantized_;
  std::vector<std::int32_t> stream_;
};

}  // namespace

int channels_of_block(const DspConvPlan& plan) {
  return plan.form == Form::kTiles || plan.form == Form::kDirect ? 2 : 4;
}

std::int32_t stream_bias(const ConvProblem& problem, std::int64_t channel) {
  return channel < 0 ? 0 : folded_bias(problem, channel, all_taps(problem));
}

std::vector<std::int32_t> stream_factors(const ConvProblem& problem, const DspConvPlan& plan,
                                         const std::vector<RequantizedChannel>& requantized,
                                         std::int64_t channel) {
  const auto m = static_cast<std::size_t>(channel);
  if (plan.store.result == rt::kDspFloat)
    return {std::bit_cast<std::int32_t>(channel < 0 ? 0.0F : problem.scale[m])};
  if (plan.store.result != rt::kDspHigh) return {};
  const Line line = channel < 0 ? Line{} : requantized[m].form.line;
  const auto offset = static_cast<std::uint64_t>(line.offset);
  return {static_cast<std::int32_t>(line.multiplier), channel < 0 ? 0 : line.shift - 32,
          static_cast<std::int32_t>(static_cast<std::uint32_t>(offset)),
          static_cast<std::int32_t>(static_cast<std::uint32_t>(offset >> 32))};
}

PackedStream pack_stream(const ConvProblem& problem, const DspConvPlan& plan,
                         const std::vector<RequantizedChannel>& requantized) {
  const std::int64_t groups = plan.form == Form::kDepthwise ? 1 : problem.geometry.group;
  Packer packer(problem, plan, requantized);
  for (std::int64_t g = 0; g < groups; ++g) packer.pack_group(g);
  return {packer.stream(), std::ssize(packer.stream()) / groups};
}

}  // namespace etch
