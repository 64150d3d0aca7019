// See pack.h.
#include "compiler/kernels/conv/helium/pack.h"

#include <algorithm>
#include <bit>

#include "compiler/base/check.h"
#include "compiler/kernels/conv/proof.h"

namespace etch {

namespace {

void pad(std::vector<KByte>& k) {
  while (k.size() % kMveVector != 0) k.emplace_back(-1, 0);
}

// What every byte of the vectors is.
std::vector<KByte> bytes_in_vectors(const PlannedMveConv& conv) {
  std::vector<KByte> k;
  for (const Piece& piece : conv.pieces) {
    k.insert(k.end(), piece.k.begin(), piece.k.end());
    if (!conv.plan.tile.gathered) pad(k);
  }
  pad(k);
  return k;
}

// Of n channels: a vector of each, then the next vector of each.
void append_weights(const ConvProblem& problem, const std::vector<KByte>& k, std::int64_t first,
                    int n, int offset, std::vector<std::int32_t>& stream) {
  for (std::size_t at = 0; at < k.size(); at += kMveVector) {
    for (int c = 0; c < n; ++c) {
      for (std::size_t word = at; word < at + kMveVector; word += 4) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 4; ++i) {
          const auto [tap, channel] = k[word + i];
          const int weight = tap < 0 ? 0 : problem.weight(first + c, tap, channel) + offset;
          bits |= static_cast<std::uint32_t>(weight) << (8 * i);
        }
        stream.push_back(static_cast<std::int32_t>(bits));
      }
    }
  }
}

std::vector<std::int32_t> factors_of(const ConvProblem& problem, const MveConvPlan& p,
                                     std::int64_t first, int n) {
  const bool is_int32 = p.out.is_int32;
  std::vector<std::int32_t> out(
      static_cast<std::size_t>(rt::mve_factor_words(p.tile, is_int32, n)));
  const std::vector<int> taps = all_taps(problem);
  for (int c = 0; c < n; ++c) {
    int to_scale = 0;
    const auto at = static_cast<std::size_t>(rt::mve_factor(p.tile, is_int32, c, &to_scale));
    out[at] = folded_bias(problem, first + c, taps);
    if (is_int32) continue;
    out[at + static_cast<std::size_t>(to_scale)] =
        std::bit_cast<std::int32_t>(problem.scale[static_cast<std::size_t>(first + c)]);
  }
  return out;
}

}  // namespace

std::vector<std::int32_t> pack_mve_conv(const ConvProblem& problem, const PlannedMveConv& conv) {
  const rt::MveTile& tile = conv.plan.tile;
  const std::vector<KByte> k = bytes_in_vectors(conv);
  std::vector<std::int32_t> stream;
  for (std::int64_t g = 0; g < problem.geometry.group; ++g) {
    for (int block = 0; block < tile.channels; block += tile.block) {
      const int n = std::min(tile.block, tile.channels - block);
      const std::int64_t first = g * tile.channels + block;
      append_weights(problem, k, first, n, tile.offset, stream);
      const std::vector<std::int32_t> factors = factors_of(problem, conv.plan, first, n);
      stream.insert(stream.end(), factors.begin(), factors.end());
    }
  }
  ETCH_CHECK(std::ssize(stream) == problem.geometry.group * conv.plan.stream_words);
  return stream;
}

}  // namespace etch
