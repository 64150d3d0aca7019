// See depthwise_plan.h.
#include "compiler/kernels/conv/helium/depthwise_plan.h"

#include <algorithm>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/kernels/conv/assemble.h"
#include "compiler/kernels/conv/helium/functions.h"
#include "compiler/kernels/conv/helium/parts.h"
#include "compiler/kernels/conv/pieces.h"

namespace etch {

namespace {

constexpr int kWord = kMveWord;
constexpr int kVector = 16;  // bytes

// ---- columns and the tile ----

// All channels at once, or one vector of them where memory counts more than the instructions around
// each call.
int blocks_of(const ConvProblem& problem, const IsaTraits& isa) {
  const std::int64_t channels = problem.geometry.in_channels;
  const bool few = isa.objective == Objective::kRam && channels % kVector == 0;
  return few ? static_cast<int>(channels / kVector) : 1;
}

std::int64_t padded_channels(const rt::MveDepthwise& t) {
  return ceil_div(t.channels, kVector) * kVector;
}

rt::MveDepthwise tile_of(const ConvProblem& problem, const Axes3& axes, int blocks) {
  const ConvAxis& rows = axes.axis[1];
  const ConvAxis& cols = axes.axis[2];
  const auto taps = static_cast<int>(rows.kernel);
  const int parts = mve_parts(problem);
  // Each of two rows has weights of its own, and so has each part: not both at once.
  const bool pair =
      parts == 1 && rows.stride == 1 && rows.dilation == 1 && taps < kWord && rows.out > 1;
  rt::MveDepthwise t{};
  t.pixels = std::min(4, static_cast<int>(cols.out));
  t.x_step = static_cast<std::ptrdiff_t>(cols.stride * kWord);
  t.rows = pair ? 2 : 1;
  t.y_row = static_cast<std::ptrdiff_t>(axes.y_stride[1]);
  t.channels = static_cast<int>(problem.geometry.in_channels) / blocks;
  t.channel_step = static_cast<std::ptrdiff_t>(positions_read(cols) * kWord);
  t.row_groups = static_cast<int>(ceil_div(taps, kWord));
  t.group_step = static_cast<std::ptrdiff_t>(padded_channels(t) * t.channel_step);
  t.column_groups = static_cast<int>(ceil_div(cols.kernel, kWord));
  t.parts = parts;
  return t;
}

// All but rows and functions.
MveDepthwisePlan plan_columns(const ConvProblem& problem, const Requantize& out, const Axes3& axes,
                              int blocks) {
  const ConvAxis& rows = axes.axis[1];
  const ConvAxis& cols = axes.axis[2];
  MveDepthwisePlan p;
  p.images = static_cast<int>(problem.geometry.batch);
  p.cols = static_cast<int>(cols.out);
  p.blocks = blocks;
  p.x_image = problem.x.stride[0];
  p.y_image = problem.y.stride[0] / bytes_of(problem.y.dtype);
  p.padding = problem.x_zero_point;
  p.left = cols.pad_begin * kWord;
  p.pads_columns = positions_inside(cols) < positions_read(cols);
  p.tile = tile_of(problem, axes, blocks);
  p.rest_pixels = p.cols % p.tile.pixels;
  p.out = mve_store(out, axes.y_stride[2]);
  // The last vector of a row may reach beyond its columns.
  p.scratch_bytes = p.tile.row_groups * p.tile.group_step + kVector;
  p.x_step = p.tile.rows * rows.stride * axes.x_stride[1];
  p.y_step = p.tile.rows * axes.y_stride[1];
  return p;
}

// ---- rows ----

// The rows of x from the tap `first` on that are interleaved for the output row `row`: up to
// `count`, of which those on padding are left out.
MveDepthwiseRows::Group group_at(const MveDepthwisePlan& p, const Axes3& axes, std::int64_t row,
                                 int first, int count) {
  const ConvAxis& rows = axes.axis[1];
  MveDepthwiseRows::Group group;
  rt::MveRows& r = group.rows;
  r = {0,
       0,
       p.padding,
       static_cast<std::ptrdiff_t>(rows.dilation * axes.x_stride[1]),
       static_cast<int>(positions_inside(axes.axis[2])),
       static_cast<std::ptrdiff_t>(axes.x_stride[2]),
       static_cast<int>(padded_channels(p.tile)),
       p.tile.channel_step};
  for (int i = 0; i < std::min(kWord, count); ++i) {
    const std::int64_t from = row * rows.stride + (first + i) * rows.dilation - rows.pad_begin;
    if (from < 0 || from >= rows.in) continue;
    if (r.count++ > 0) continue;
    r.first = i;
    group.x = from * axes.x_stride[1];
  }
  return group;
}

MveDepthwiseRows rows_at(const MveDepthwisePlan& p, const Axes3& axes, std::int64_t row) {
  const int all = static_cast<int>(axes.axis[1].kernel) + p.tile.rows - 1;
  MveDepthwiseRows out;
  out.y = row * axes.y_stride[1];
  for (int first = 0; first < all; first += kWord)
    out.groups.push_back(group_at(p, axes, row, first, all - first));
  return out;
}

bool continues(const MveDepthwiseRows& before, const MveDepthwiseRows& next, std::int64_t x_step) {
  for (std::size_t g = 0; g < next.groups.size(); ++g) {
    const MveDepthwiseRows::Group& a = before.groups[g];
    const MveDepthwiseRows::Group& b = next.groups[g];
    if (a.rows.first != b.rows.first || a.rows.count != b.rows.count) return false;
    if (a.rows.count > 0 && b.x - a.x != before.count * x_step) return false;
  }
  return true;
}

// Rows or pairs of the output; an odd row is computed together with the one before, once more.
std::vector<MveDepthwiseRows> rows_of(const MveDepthwisePlan& p, const Axes3& axes) {
  const std::int64_t count = axes.axis[1].out;
  const int n = p.tile.rows;
  std::vector<MveDepthwiseRows> out;
  for (std::int64_t row = 0; row < count; row += n) {
    const bool odd = row + n > count;
    MveDepthwiseRows next = rows_at(p, axes, odd ? count - n : row);
    if (!odd && !out.empty() && continues(out.back(), next, p.x_step)) {
      ++out.back().count;
    } else {
      out.push_back(std::move(next));
    }
  }
  return out;
}

}  // namespace

std::optional<PlannedMveDepthwise> plan_mve_depthwise(const ConvProblem& problem,
                                                      const IsaTraits& isa) {
  const Axes3 axes = three_axes(problem);
  PlannedMveDepthwise out;
  out.proof = prove_range(problem, isa);
  if (out.proof.out.kind == Requantize::Kind::kInteger || positions_inside(axes.axis[2]) <= 0)
    return std::nullopt;
  MveDepthwisePlan& p = out.plan;
  p = plan_columns(problem, out.proof.out, axes, blocks_of(problem, isa));
  p.rows = rows_of(p, axes);
  MveDepthwiseConv conv{p.tile, p.out};
  if (!fits(conv) || p.scratch_bytes > INT32_MAX) return std::nullopt;
  p.stream_words = conv.stream_words();
  for (MveDepthwiseRows& segment : p.rows) {
    for (MveDepthwiseRows::Group& group : segment.groups)
      group.function = use(mve_interleave(group.rows), out.assembly);
  }
  p.whole = use(mve_depthwise(conv), out.assembly);
  conv.tile.pixels = p.rest_pixels;
  if (p.rest_pixels > 0) p.rest = use(mve_depthwise(conv), out.assembly);
  return out;
}

}  // namespace etch
