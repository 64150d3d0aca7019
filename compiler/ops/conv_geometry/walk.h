// The sums of a convolution, for reference functions: visits every output element with all the
// pairs of input and weight elements that contribute to it. Plain loops from the definition of
// ConvAxis; positions in the padding are left out (an integer operator's padding holds the zero
// point, so it contributes 0).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/ops/conv_geometry/geometry.h"

namespace etch {

class ConvWalk {
 public:
  explicit ConvWalk(const ConvGeometry& geometry);

  // For every element of y: sum = Sum(0); for each tap, in order of kernel position
  // (row-major), then of input channel: sum += product(x index, w index, m); store(y index, m,
  // sum). Indices are flat positions in the tensors; m is the output channel.
  template <class Sum, class Product, class Store>
  void run(Product product, Store store) const {
    for_each_position([&](const Position& out) {
      const std::vector<Tap> taps = taps_of(out);
      for (std::int64_t n = 0; n < geometry_.batch; ++n) {
        for (std::int64_t m = 0; m < geometry_.out_channels; ++m) {
          Sum sum = 0;
          for (const Tap& tap : taps) {
            for (std::int64_t c = 0; c < geometry_.in_per_group(); ++c) {
              sum += product(x_index(n, m, c) + tap.x, w_index(m, c) + tap.w, m);
            }
          }
          store(y_index(n, m, out), m, sum);
        }
      }
    });
  }

 private:
  using Position = std::array<std::int64_t, 3>;
  struct Tap {
    std::int64_t x;  // offset from the first element of the input channel
    std::int64_t w;  // offset from the first element of the kernel plane
  };

  template <class Visit>
  void for_each_position(Visit visit) const {
    for (std::int64_t a = 0; a < axes_[0].out; ++a) {
      for (std::int64_t b = 0; b < axes_[1].out; ++b) {
        for (std::int64_t c = 0; c < axes_[2].out; ++c) visit(Position{a, b, c});
      }
    }
  }

  // Input position on `axis` that tap `tap` connects with output position `out`; -1: none.
  std::int64_t source(std::size_t axis, std::int64_t out, std::int64_t tap) const;
  std::vector<Tap> taps_of(const Position& out) const;
  std::int64_t x_index(std::int64_t n, std::int64_t m, std::int64_t c) const;
  std::int64_t w_index(std::int64_t m, std::int64_t c) const;
  std::int64_t y_index(std::int64_t n, std::int64_t m, const Position& out) const;

  const ConvGeometry& geometry_;
  std::array<ConvAxis, 3> axes_;  // leading axes of size 1 where there are fewer
};

}  // namespace etch
