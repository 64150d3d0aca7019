// The bytes of x that one output position of a convolution multiplies, as pieces of memory in the
// order of K; what conv.cc makes runs of.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/conv/regions.h"

namespace etch {

// The geometry with exactly three axes (missing outer ones have size 1).
struct Axes3 {
  ConvAxis axis[3];
  std::int64_t x_stride[3] = {}, y_stride[3] = {}, r_stride[3] = {};  // bytes, elements, bytes
  std::int64_t halo_begin[3] = {}, halo_end[3] = {};
};

inline Axes3 three_axes(const ConvProblem& problem) {
  Axes3 out;
  const std::size_t rank = problem.geometry.axes.size();
  const std::int64_t y_bytes = bytes_of(problem.y.dtype);
  for (std::size_t a = 0; a < rank; ++a) {
    const std::size_t to = 3 - rank + a;
    out.axis[to] = problem.geometry.axes[a];
    out.x_stride[to] = problem.x.stride[a + 2];
    out.y_stride[to] = problem.y.stride[a + 2] / y_bytes;
    if (problem.residual) out.r_stride[to] = problem.residual->view.stride[a + 2];
    out.halo_begin[to] = problem.x.halo_begin[a + 2];
    out.halo_end[to] = problem.x.halo_end[a + 2];
  }
  return out;
}

// Contiguous bytes of x, and which (tap, channel) each of them is.
struct Piece {
  std::int64_t offset = 0;
  std::vector<std::pair<int, int>> k;  // (tap, channel in group) per byte
};

// All taps of a region as pieces, merged where their bytes touch.
inline std::vector<Piece> pieces_of(const Axes3& axes, const Segment* const segment[3],
                                    int channels, std::int64_t channel_stride) {
  std::vector<Piece> out;
  for (const SegmentTap& d : segment[0]->taps) {
    for (const SegmentTap& h : segment[1]->taps) {
      for (const SegmentTap& w : segment[2]->taps) {
        const std::int64_t offset =
            d.input * axes.x_stride[0] + h.input * axes.x_stride[1] + w.input * axes.x_stride[2];
        const auto tap = static_cast<int>(
            (d.kernel * axes.axis[1].kernel + h.kernel) * axes.axis[2].kernel + w.kernel);
        ETCH_CHECK(channel_stride == 1 || channels == 1);
        if (out.empty() ||
            out.back().offset + static_cast<std::int64_t>(out.back().k.size()) != offset) {
          out.push_back({offset, {}});
        }
        for (int c = 0; c < channels; ++c) out.back().k.emplace_back(tap, c);
      }
    }
  }
  return out;
}

}  // namespace etch
