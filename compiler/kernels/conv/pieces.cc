// See pieces.h.
#include "compiler/kernels/conv/pieces.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/check.h"

namespace etch {

Axes3 three_axes(const ConvProblem& problem) {
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

std::vector<ConvLoop> loops_over_images(const ConvProblem& problem) {
  if (problem.geometry.batch <= 1) return {};
  return {{"image", static_cast<int>(problem.geometry.batch), problem.x.stride[0],
           problem.y.stride[0] / bytes_of(problem.y.dtype),
           problem.residual ? problem.residual->view.stride[0] : 0, false}};
}

std::vector<ConvLoop> loops_around(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  std::vector<ConvLoop> out = loops_over_images(problem);
  if (g.group > 1) {
    const std::int64_t r_stride = problem.residual ? problem.residual->view.stride[1] : 0;
    out.push_back({"group", static_cast<int>(g.group), g.in_per_group() * problem.x.stride[1],
                   g.out_per_group() * problem.y.stride[1] / bytes_of(problem.y.dtype),
                   g.out_per_group() * r_stride, true});
  }
  return out;
}

std::vector<Piece> pieces_of(const Axes3& axes, const Segment* const segment[3], int channels,
                             std::int64_t channel_stride) {
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

std::int64_t first_byte(const std::vector<Piece>& pieces) {
  const auto lower = [](const Piece& a, const Piece& b) { return a.offset < b.offset; };
  return pieces.empty() ? 0 : std::min_element(pieces.begin(), pieces.end(), lower)->offset;
}

std::vector<int> all_taps(const ConvProblem& problem) {
  std::vector<int> taps(static_cast<std::size_t>(problem.taps()));
  std::iota(taps.begin(), taps.end(), 0);
  return taps;
}

}  // namespace etch
