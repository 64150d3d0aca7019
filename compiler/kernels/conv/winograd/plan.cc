// See plan.h.
#include "compiler/kernels/conv/winograd/plan.h"

#include <algorithm>
#include <utility>

#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/dsp/tile_functions.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/winograd/functions.h"

namespace etch {

namespace {

constexpr int kColumns = DspWinogradPlan::kColumns;

// Sizes and steps, and what is as in the direct convolution.
DspWinogradPlan plan_sizes(const ConvProblem& problem, const DspConvPlan& direct,
                           const Axes3& axes) {
  const ConvGeometry& g = problem.geometry;
  const ConvAxis& cols = axes.axis[2];
  DspWinogradPlan p;
  p.images = static_cast<int>(g.batch);
  p.x_image = problem.x.stride[0];
  p.y_image = problem.y.stride[0];
  p.r_image = problem.residual ? problem.residual->view.stride[0] : 0;
  p.columns = static_cast<int>(cols.out);
  p.in = static_cast<int>(g.in_channels);
  p.out = static_cast<int>(g.out_channels);
  p.y_step = axes.y_stride[2];
  p.y_row = axes.y_stride[1];
  p.r_step = axes.r_stride[2];
  p.r_row = axes.r_stride[1];
  p.row_bytes = winograd_row_bytes(g);
  p.left = cols.pad_begin * p.in;
  p.copied = std::clamp<std::int64_t>(cols.out + 2 - cols.pad_begin, 0, cols.in) * p.in;
  p.padding = problem.x_zero_point;
  p.store = direct.store;
  p.line = direct.line;
  p.zero_point = direct.out.zero_point;
  p.rows = p.line ? 2 : 1;
  p.transformed = p.rows + 1;
  p.y = p.rows + 2;
  return p;
}

// ---- pairs of rows ----

using Pairs = DspWinogradPlan::Pairs;

bool continues(const Pairs& before, const Pairs& next) {
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  return before.rows == next.rows &&
         std::equal(before.segment.kernel_rows.begin(), before.segment.kernel_rows.end(),
                    next.segment.kernel_rows.begin(), next.segment.kernel_rows.end(), same);
}

// The output rows `first` and, if there is one, the next.
Pairs pair_at(const DspWinogradPlan& p, const Axes3& axes, std::int64_t first) {
  const ConvAxis& rows = axes.axis[1];
  Pairs out;
  out.rows = static_cast<int>(std::min<std::int64_t>(2, rows.out - first));
  for (int row = 0; row < out.rows + 2 && p.copied > 0; ++row) {
    const std::int64_t at = first - rows.pad_begin + row;
    if (at >= 0 && at < rows.in) out.segment.kernel_rows.emplace_back(row, at * axes.x_stride[1]);
  }
  out.segment.y_first = first * p.y_row;
  out.segment.r_first = first * p.r_row;
  out.segment.x_advance = 2 * axes.x_stride[1];
  return out;
}

// Pairs of rows one below the other that read the same of their four rows of x are one entry.
std::vector<Pairs> pairs_of(const DspWinogradPlan& p, const Axes3& axes) {
  std::vector<Pairs> out;
  for (std::int64_t first = 0; first < axes.axis[1].out; first += 2) {
    Pairs each = pair_at(p, axes, first);
    if (!out.empty() && continues(out.back(), each)) {
      ++out.back().segment.rows;
    } else {
      out.push_back(std::move(each));
    }
  }
  return out;
}

// ---- functions ----

AssemblyFunction tiles(const DspWinogradPlan& p, const DspEpilogue& epilogue, int rows,
                       int columns) {
  return winograd_tiles({p.in, p.out, rows, columns, p.y_row, p.r_row, epilogue, p.line});
}

// The plan with the names of its functions, which are added to `assembly`.
DspWinogradPlan with_functions(DspWinogradPlan p, const ConvProblem& problem, const Axes3& axes,
                               const DspEpilogue& epilogue,
                               std::vector<AssemblyFunction>& assembly) {
  if (p.copied > 0) {
    const bool aligned = axes.x_stride[1] % 4 == 0 && p.x_image % 4 == 0 &&
                         problem.x.offset % 4 == 0;  // and whole pixels are
    p.copy = use(dsp_copy({p.copied, aligned}), assembly);
  }
  p.input = use(winograd_input({p.in, p.row_bytes}), assembly);
  for (Pairs& each : p.pairs) {
    if (p.whole() > 0) each.multiply = use(tiles(p, epilogue, each.rows, kColumns), assembly);
    if (p.rest() > 0) each.last = use(tiles(p, epilogue, each.rows, p.rest()), assembly);
  }
  return p;
}

}  // namespace

PlannedWinograd plan_winograd(const ConvProblem& problem, const PlannedDspConv& direct) {
  const Axes3 axes = three_axes(problem);
  PlannedWinograd out;
  DspWinogradPlan plan = plan_sizes(problem, direct.plan, axes);
  plan.pairs = pairs_of(plan, axes);
  out.plan = with_functions(std::move(plan), problem, axes, direct.epilogue, out.assembly);
  out.scratch = {{"rows", DType::kU8, 4 * out.plan.row_bytes},
                 {"transformed", DType::kS32, kWinogradPositions * out.plan.position_words()}};
  return out;
}

}  // namespace etch
