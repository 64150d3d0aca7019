// Where Winograd's form of a convolution fits and pays; see plan.h.
#include "compiler/kernels/conv/dsp/serves.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "compiler/base/checked.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/winograd/functions.h"
#include "compiler/kernels/conv/winograd/plan.h"

namespace etch {

namespace {

bool is_3x3(const ConvGeometry& g) {
  return g.axes.size() == 2 && g.group == 1 &&
         std::all_of(g.axes.begin(), g.axes.end(), [](const ConvAxis& axis) {
           return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
         });
}

// Sums wrap on the way, but four times the sum of products has to be an int32 to be divided.
bool fits_four_times(const ConvProblem& problem) {
  const std::int64_t terms = problem.taps() * problem.geometry.in_per_group();
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < terms; ++i)
      sum += std::abs(problem.weights[static_cast<std::size_t>(m * terms + i)]);
    if (4 * 255 * sum > std::numeric_limits<std::int32_t>::max()) return false;
  }
  return true;
}

// Instructions except those that both have: loops of compiler/kernels/conv/dsp/tile_function.cc and
// gather_function.cc, and those of functions.cc.
bool is_faster(const ConvGeometry& g) {
  const std::int64_t in = g.in_channels, pairs = g.out_channels / 2;
  const std::int64_t rows = g.axes[0].out, columns = g.axes[1].out;
  const std::int64_t direct = rows * ceil_div(columns, 4) * (36 * in + pairs * (117 * in / 2));
  const std::int64_t tiles = ceil_div(rows, 2) * ceil_div(columns, 2);
  const std::int64_t fours = ceil_div(rows, 2) * ceil_div(columns, DspWinogradPlan::kColumns);
  const std::int64_t winograd =
      fours * (168 * in + pairs * kWinogradPositions * (11 * in / 2 + 4)) + tiles * pairs * 75;
  return winograd < direct;
}

}  // namespace

std::int64_t winograd_row_bytes(const ConvGeometry& g) {
  return (ceil_div(g.axes[1].out, DspWinogradPlan::kColumns) * DspWinogradPlan::kColumns + 2) *
         g.in_channels;
}

bool dsp_winograd_serves(const ConvProblem& problem, const IsaTraits& isa) {
  return isa.objective == Objective::kSpeed && isa.assembly == Assembly::kDsp &&
         dsp_conv_serves(problem, isa) && dsp_weights_moved(problem) == 0 &&
         is_3x3(problem.geometry) && is_faster(problem.geometry);
}

bool winograd_fits(const ConvProblem& problem, const DspConvPlan& direct) {
  const ConvGeometry& g = problem.geometry;
  const Axes3 axes = three_axes(problem);
  const std::int64_t in = g.in_channels;
  return direct.form == DspConvPlan::Form::kTiles && direct.halves &&
         direct.store.result != rt::kDspInt32 && in % 4 == 0 && in <= kMostWinogradChannels &&
         g.out_channels % 2 == 0 && axes.x_stride[2] == in &&
         3 * winograd_row_bytes(g) + 3 * in <= kWinogradReach &&
         axes.y_stride[1] + axes.y_stride[2] <= kWinogradReach &&
         axes.r_stride[1] + axes.r_stride[2] + 1 <= kWinogradReach && fits_four_times(problem);
}

}  // namespace etch
