// See merged_columns.h.
#include "compiler/kernels/conv/merged_columns.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "compiler/base/checked.h"

namespace etch {

namespace {

// Of one pixel and tap, in halves: some instruction sets have blocks of half a vector.
std::int64_t half_vectors_of(const ConvProblem& problem, const IsaTraits& isa, std::int64_t m) {
  const bool halves = isa.broadcast_is_load && isa.lanes > 4 && !problem.scale.empty();
  return halves && m <= isa.lanes / 2 ? 1 : 2 * ceil_div(m, std::int64_t{isa.lanes});
}

bool is_possible(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  if (g.direction != ConvDirection::kTransposed || g.group != 1 || problem.residual ||
      problem.run_time)
    return false;
  const ConvAxis& axis = g.axes.back();
  const std::int64_t element = bytes_of(problem.y.dtype);
  return axis.stride > 1 && axis.dilation == 1 && axis.out % axis.stride == 0 &&
         problem.y.stride[1] == element && problem.y.stride.back() == g.out_channels * element;
}

// Output column s * q + r takes tap k of input column i where s * i + k = s * q + r + pad_begin.
// With j = q - i, tap j of the merged column has weight s * j + r + pad_begin of column r.
ConvAxis merged(const ConvAxis& axis) {
  const std::int64_t before = (axis.stride - 1 + axis.pad_begin) / axis.stride;  // least j is -this
  ConvAxis out;
  out.in = axis.in;
  out.kernel = 0;
  while ((out.kernel - before) * axis.stride + axis.pad_begin < axis.kernel) ++out.kernel;
  out.pad_begin = before;
  out.out = axis.out / axis.stride;
  return out;
}

// Weights of channel m of column r, tap by tap.
void append_weights(const ConvProblem& problem, const ConvAxis& merged, std::int64_t r,
                    std::int64_t m, std::vector<int>& out) {
  const ConvAxis& axis = problem.geometry.axes.back();
  for (std::int64_t row = 0; row < problem.taps() / axis.kernel; ++row) {
    for (std::int64_t tap = 0; tap < merged.kernel; ++tap) {
      const std::int64_t k = (tap - merged.pad_begin) * axis.stride + r + axis.pad_begin;
      const bool has_tap = k >= 0 && k < axis.kernel;
      for (std::int64_t c = 0; c < problem.geometry.in_channels; ++c)
        out.push_back(has_tap ? problem.weight(m, row * axis.kernel + k, c) : 0);
    }
  }
}

template <class Element>
std::vector<Element> repeated(const std::vector<Element>& values, std::int64_t times) {
  std::vector<Element> out;
  for (std::int64_t i = 0; i < times; ++i) out.insert(out.end(), values.begin(), values.end());
  return out;
}

}  // namespace

std::optional<ConvProblem> merged_columns(const ConvProblem& problem, const IsaTraits& isa) {
  if (isa.lanes == 1 || !is_possible(problem)) return std::nullopt;
  const ConvGeometry& g = problem.geometry;
  const ConvAxis axis = merged(g.axes.back());
  const std::int64_t stride = g.axes.back().stride;
  if (half_vectors_of(problem, isa, stride * g.out_channels) * axis.kernel >=
      half_vectors_of(problem, isa, g.out_channels) * g.axes.back().kernel)
    return std::nullopt;
  ConvProblem out = problem;
  out.geometry.axes.back() = axis;
  out.geometry.out_channels = stride * g.out_channels;
  out.weights.clear();
  for (std::int64_t r = 0; r < stride; ++r) {
    for (std::int64_t m = 0; m < g.out_channels; ++m)
      append_weights(problem, axis, r, m, out.weights);
  }
  out.bias = repeated(problem.bias, stride);
  out.scale = repeated(problem.scale, stride);
  out.y.shape[1] = out.geometry.out_channels;
  out.y.shape.back() = axis.out;
  out.y.stride.back() = stride * problem.y.stride.back();
  out.y.halo_begin.back() = out.y.halo_end.back() = 0;
  return out;
}

}  // namespace etch
