// Products of tiles whose instruction set multiplies more than one broadcast group at a time:
//   lanes:   16 bytes of K of a pixel in one register, of which dot4_lane takes 4 for all channels;
//   squares: dot_squares multiplies 8 bytes of K of two pixels by those of two channels. Its sums
//            are 2 x 2 blocks; at the end halves of two of them make the vectors of a pixel.
// Pixels are numbered row by row; squares pair 0 with 1, 2 with 3, ... wherever they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "templates/stage.h"

namespace etch::lane_tile {

// `groups` <= 4 groups of bytes as dot4_lane takes them.
template <class S>
typename S::Bytes load(S& s, const Name& name,
                       const typename S::template Ptr<const std::uint8_t>& x, int groups) {
  auto bytes =
      4 * groups == 4 * s.isa().lanes ? s.load_bytes(name, x) : s.load_bytes_n(name, x, 4 * groups);
  if (s.isa().moved == 0) return bytes;
  const auto far = s.splat_bytes(Name(name).at("far", 0), s.isa().moved);
  return s.xor_bytes(Name(name).at("moved", 0), bytes, far);
}

// `bytes` <= 8 of a pixel and of the next one, as dot_squares takes them; zeros for one that is not
// there, nothing if neither is.
template <class S, class OptionalPtr>
std::optional<typename S::Bytes> load_pair(S& s, const Name& name, const OptionalPtr& a,
                                           const OptionalPtr& b, int bytes) {
  if (!a && !b) return std::nullopt;
  auto pair = a ? s.load_bytes_n(name, *a, bytes) : s.splat_bytes(name, 0);
  if (b) s.insert_bytes(pair, *b, 8, bytes);
  return pair;
}

// The sums of a tile of `pixels` x 4 `vectors` channels in 2 x 2 blocks.
template <class S>
class Squares {
 public:
  Squares(S& s, int vectors, int pixels) : s_(s), vectors_(vectors), pixels_(pixels) {}

  int pairs() const { return (pixels_ + 1) / 2; }

  // `first`: where the biases of each pixel are, from `bias` on. `terms`: a vector for each pixel
  // that is added.
  template <class Ptr>
  void start(const Ptr& bias, const std::vector<std::int64_t>& first,
             const std::optional<Ptr>& terms) {
    using Index = typename S::Index;
    for (int p = 0; p < pixels_; p += 2) {
      const int next = std::min(p + 1, pixels_ - 1);
      for (int v = 0; v < vectors_; ++v) {
        const auto load = [&](const char* name, const char* term, int pixel) {
          const std::int64_t at = first[static_cast<std::size_t>(pixel)];
          auto sum = s_.load_i32(Name(name).at("p", p).at("v", v),
                                 bias + Index(at + std::int64_t{v} * s_.isa().lanes));
          if (terms) {
            s_.add_i32(sum, s_.load_i32(Name(term).at("p", p).at("v", v),
                                        *terms + Index(std::int64_t{pixel} * s_.isa().lanes)));
          }
          return sum;
        };
        const bool same =
            first[static_cast<std::size_t>(next)] == first[static_cast<std::size_t>(p)];
        const auto a = load("bias", "term", p);
        const auto b = same && (!terms || next == p) ? a : load("next", "term_of_next", next);
        const Name name = Name("acc").at("p", p);
        acc_.push_back(s_.low_halves(Name(name).at("v", 2 * v), a, b));
        acc_.push_back(s_.high_halves(Name(name).at("v", 2 * v + 1), a, b));
      }
    }
  }

  // The products of two channels, number `v` of the block's pairs.
  template <class Pairs>
  void multiply(int v, const Pairs& pairs, const typename S::Bytes& weights) {
    for (int p = 0; p < this->pairs(); ++p) {
      const auto& x = pairs[static_cast<std::size_t>(p)];
      if (x) s_.dot_squares(at(p, v), *x, weights);
    }
  }

  // As [pixel][vector].
  std::vector<typename S::I32> sums() {
    std::vector<typename S::I32> out;
    for (int p = 0; p < pixels_; ++p) {
      for (int v = 0; v < vectors_; ++v) {
        const auto& a = at(p / 2, 2 * v);
        const auto& b = at(p / 2, 2 * v + 1);
        const Name name = Name("whole").at("p", p).at("v", v);
        out.push_back(p % 2 == 0 ? s_.low_halves(name, a, b) : s_.high_halves(name, a, b));
      }
    }
    return out;
  }

 private:
  typename S::I32& at(int pair, int v) {
    const int index = pair * 2 * vectors_ + v;
    return acc_[static_cast<std::size_t>(index)];
  }

  S& s_;
  int vectors_, pixels_;
  std::vector<typename S::I32> acc_;
};

}  // namespace etch::lane_tile
