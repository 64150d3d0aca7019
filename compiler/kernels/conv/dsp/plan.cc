// See plan.h.
#include "compiler/kernels/conv/dsp/plan.h"

#include <algorithm>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/kernels/conv/dsp/epilogue_choice.h"
#include "compiler/kernels/conv/dsp/joint.h"
#include "compiler/kernels/conv/dsp/serves.h"
#include "compiler/kernels/conv/dsp/stream.h"
#include "compiler/kernels/conv/dsp/tile_functions.h"
#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/regions.h"

namespace etch {

namespace {

using Form = DspConvPlan::Form;

Form form_of(const ConvProblem& problem, const IsaTraits& isa) {
  if (is_per_channel(problem.geometry)) return Form::kDepthwise;
  if (isa.assembly != Assembly::kDsp) return Form::kDirect;
  std::int64_t pixels = 1;
  for (const ConvAxis& axis : problem.geometry.axes) pixels *= axis.out;
  return pixels == 1 ? Form::kRow : Form::kTiles;
}

// The form and what is around rows.
DspConvPlan plan_loops(const ConvProblem& problem, const IsaTraits& isa, const Requantize& out) {
  const ConvGeometry& g = problem.geometry;
  DspConvPlan p;
  p.out = out;
  p.halves = isa.assembly == Assembly::kDsp;
  p.low = is_low(isa);
  p.compact = p.halves && isa.objective == Objective::kSize;
  p.form = form_of(problem, isa);
  const bool per_channel = p.form == Form::kDepthwise;
  p.byte_weights = p.compact && per_channel && dsp_weights_moved(problem) == 0;
  p.moved = per_channel ? 0 : dsp_weights_moved(problem).value();
  p.channels = static_cast<int>(per_channel ? g.out_channels : g.out_per_group());
  if (problem.residual) p.add = problem.residual->add;
  p.axes = per_channel ? loops_over_images(problem) : loops_around(problem);
  return p;
}

// ---- rows ----

// Columns of x that a row of the output reads, from the left padding on.
std::int64_t columns_read(const ConvAxis& cols) {
  return (cols.out - 1) * cols.stride + (cols.kernel - 1) * cols.dilation + 1;
}

DspSegment segment_of(const Segment& segment, const Axes3& axes) {
  DspSegment out;
  out.rows = static_cast<int>(segment.count);
  out.y_first = segment.first * axes.y_stride[1];
  out.r_first = segment.first * axes.r_stride[1];
  out.x_advance = segment.advance * axes.x_stride[1];
  for (const SegmentTap& tap : segment.taps)
    out.kernel_rows.emplace_back(tap.kernel, tap.input * axes.x_stride[1]);
  return out;
}

// Whether some pixel lacks a tap of the kernel.
bool has_padding(const ConvAxis& axis, const std::vector<Segment>& segments) {
  return segments.size() > 1 || std::ssize(segments.front().taps) < axis.kernel;
}

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

// Only whole pixels are copied: of a group its own channels would do, but rows are as cheap.
DspConvPlan with_copied_rows(DspConvPlan p, const ConvProblem& problem, const Axes3& axes) {
  const ConvAxis& cols = axes.axis[2];
  const std::int64_t pixel = axes.x_stride[2];
  const std::int64_t inside =
      std::clamp<std::int64_t>(columns_read(cols) - cols.pad_begin, 0, cols.in);
  const std::int64_t groups = p.form == Form::kDepthwise ? problem.geometry.group : 1;
  p.copies = true;
  p.copied = inside == 0 ? 0 : (inside - 1) * pixel + problem.geometry.in_per_group() * groups;
  p.left = cols.pad_begin * pixel;
  p.row_bytes = round_up(columns_read(cols) * pixel, 4);
  p.rows_bytes = p.kernel_rows * p.row_bytes;
  if (inside == 0) {
    for (DspSegment& segment : p.segments) segment.kernel_rows.clear();
  }
  return p;
}

// Rows that follow each other without a gap are one row.
DspConvPlan flattened(DspConvPlan p) {
  const bool dense = p.columns * p.x_step == p.segments.front().x_advance &&
                     p.columns * p.y_step == p.y_row && p.columns * p.r_step == p.r_row;
  if (p.copies || p.segments.size() != 1 || !dense) return p;
  p.columns *= p.segments.front().rows;
  p.segments.front().rows = 1;
  return p;
}

DspConvPlan with_rows(DspConvPlan p, const ConvProblem& problem, const Axes3& axes) {
  const ConvAxis& rows = axes.axis[1];
  const ConvAxis& cols = axes.axis[2];
  const std::vector<Segment> down = plan_segments(rows, ConvDirection::kForward, 0, 0);
  const std::vector<Segment> across = plan_segments(cols, ConvDirection::kForward, 0, 0, 1);
  p.kernel_rows = static_cast<int>(rows.kernel);
  p.padding = problem.x_zero_point;
  p.columns = static_cast<int>(cols.out);
  p.x_step = cols.stride * axes.x_stride[2];
  p.y_step = axes.y_stride[2];
  p.y_row = axes.y_stride[1];
  p.r_step = axes.r_stride[2];
  p.r_row = axes.r_stride[1];
  for (const Segment& segment : down) p.segments.push_back(segment_of(segment, axes));
  if (has_padding(rows, down) || has_padding(cols, across))
    return with_copied_rows(std::move(p), problem, axes);
  p.row_bytes = rows.dilation * axes.x_stride[1];
  return flattened(std::move(p));
}

// ---- what a pixel reads ----

DspConvPlan with_gather(DspConvPlan p, const ConvProblem& problem, const Axes3& axes) {
  const ConvAxis& rows = axes.axis[1];
  const ConvAxis& cols = axes.axis[2];
  const std::int64_t pixel = axes.x_stride[2];
  const std::int64_t channels = problem.geometry.in_per_group();
  if (p.form == Form::kDepthwise) {
    p.taps = {static_cast<int>(rows.kernel), static_cast<int>(cols.kernel),
              static_cast<std::ptrdiff_t>(p.row_bytes),
              static_cast<std::ptrdiff_t>(cols.dilation * pixel)};
    return p;
  }
  const bool one_run = cols.kernel == 1 || (cols.dilation == 1 && pixel == channels);
  const std::int64_t run_elements = one_run ? cols.kernel * channels : channels;
  if (p.form != Form::kDirect && one_run && p.row_bytes == run_elements) {
    p.words = static_cast<int>(ceil_div(rows.kernel * run_elements, 4));
    return p;
  }
  p.words = static_cast<int>(ceil_div(run_elements, 4));
  p.pieces = one_run ? 1 : static_cast<int>(rows.kernel);
  p.piece_step = one_run ? 0 : p.row_bytes;
  p.runs = static_cast<int>(one_run ? rows.kernel : cols.kernel);
  p.run_step = one_run ? p.row_bytes : cols.dilation * pixel;
  if (p.form != Form::kDirect) return p;
  ETCH_CHECK(p.pieces == 1);
  p.direct = {static_cast<int>(run_elements), p.runs, static_cast<std::ptrdiff_t>(p.run_step),
              p.low};
  return p;
}

// Widening in the row's function takes two instructions per word of x for every four channels;
// before, five and a half, a call, and memory twice as large as x.
bool widens_in_row(const DspConvPlan& p) {
  constexpr int kMostBlocks = 3;
  return p.form == Form::kRow && p.pieces * p.runs == 1 &&
         ceil_div(p.channels, channels_of_block(p)) <= kMostBlocks;
}

// ---- operands ----

// Numbers of the operands after x and the residual; `scratch` gets what they want of memory.
DspConvPlan with_operands(DspConvPlan p, std::vector<ScratchWish>& scratch) {
  int next = p.add ? 2 : 1;
  if ((p.form == Form::kTiles || p.form == Form::kRow) && !p.widens) {
    p.gathered = next++;
    scratch.push_back({"gathered", DType::kS32, 2 * p.tile.pixels * p.groups()});
  }
  if (p.copies) {
    p.rows = next++;
    scratch.push_back({"rows", DType::kU8, p.rows_bytes + 4});  // for the last word of a run
  }
  if (p.finishes) {
    p.sums = next++;
    scratch.push_back({"sums", DType::kS32, p.tile.pixels * p.channels});
  }
  p.y = next;
  return p;
}

}  // namespace

PlannedDspConv plan_dsp_conv(const ConvProblem& problem, const IsaTraits& isa) {
  Axes3 axes = three_axes(problem);
  axes.x_stride[2] = pixel_stride(problem);
  PlannedDspConv out;
  out.proof = prove_range(problem, isa);
  DspConvPlan plan = plan_loops(problem, isa, out.proof.out);
  plan = with_rows(std::move(plan), problem, axes);
  out.line = line_of(plan);
  plan = with_result(std::move(plan), out.line);
  out.epilogue = epilogue_of(problem, out.proof, plan);
  plan.store = store_of(out.epilogue);
  plan = with_gather(std::move(plan), problem, axes);
  if (const std::optional<int> moved = nibbles_moved(problem, plan)) {
    plan.joint = plan.nibbles = true;
    plan.moved = *moved;
  } else {
    plan.joint = has_joint_weights(problem, plan);
  }
  plan.widens = widens_in_row(plan);
  plan = with_functions(std::move(plan), problem, out.epilogue, isa, out.assembly);
  out.plan = with_operands(std::move(plan), out.scratch);
  return out;
}

}  // namespace etch
