// See spread.h.
#include "compiler/kernels/conv/depthwise/spread.h"

#include <memory>
#include <utility>

#include "compiler/base/checked.h"
#include "compiler/lower/layout_steps.h"
#include "compiler/lower/nest.h"

namespace etch {

namespace {

constexpr std::int64_t kMostCopies = 16;  // of each byte of x
constexpr std::int64_t kMostTaps = 160;   // that a depthwise kernel spells out

std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return ceil_div(n, unit) * unit; }

// x with its halo: [N, spatial..., channel in the group, group, channel of y in the group].
View every_product(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  View out = problem.x;
  out.shape = {g.batch};
  out.stride = {problem.x.stride[0]};
  for (std::size_t d = 2; d < problem.x.shape.size(); ++d) {
    out.offset -= problem.x.halo_begin[d] * problem.x.stride[d];
    out.shape.push_back(problem.x.shape[d] + problem.x.halo_begin[d] + problem.x.halo_end[d]);
    out.stride.push_back(problem.x.stride[d]);
  }
  out.shape.insert(out.shape.end(), {g.in_per_group(), g.group, g.out_per_group()});
  out.stride.insert(out.stride.end(), {1, g.in_per_group(), 0});
  out.halo_begin.assign(out.shape.size(), 0);
  out.halo_end = out.halo_begin;
  return out;
}

// The copy as the new problem's x: [N, M, spatial..., channel in the group].
View as_operand(const ConvProblem& problem, const View& copy) {
  View out = problem.x;
  out.buffer = copy.buffer;
  out.offset = copy.offset;
  out.shape[1] = problem.geometry.out_channels;
  out.stride = {copy.stride[0], 1};
  for (std::size_t d = 2; d < problem.x.shape.size(); ++d) {
    out.stride.push_back(copy.stride[d - 1]);
    out.offset += out.halo_begin[d] * copy.stride[d - 1];
  }
  out.shape.push_back(problem.geometry.in_per_group());
  out.stride.push_back(problem.geometry.out_channels);
  out.halo_begin.push_back(0);
  out.halo_end.push_back(0);
  return out;
}

}  // namespace

bool wastes_lanes(const ConvProblem& problem, const IsaTraits& isa) {
  const ConvGeometry& g = problem.geometry;
  const std::int64_t in = g.in_per_group(), out = g.out_per_group();
  const bool depthwise = in == 1 && out == 1;
  if (g.direction != ConvDirection::kForward || g.group == 1 || depthwise || problem.residual ||
      g.axes.size() > 2 || out > kMostCopies || problem.taps() * in > kMostTaps ||
      problem.x.stride[1] != 1 || problem.y.stride[1] != bytes_of(problem.y.dtype))
    return false;
  // Padded lanes and padded groups of four bytes of K. Up to four times the products cost less than
  // the copy where there are vectors: 47 against 84 us for 16 groups of 4x4 channels, 3x3 on 28x28.
  const std::int64_t computed = rounded_up(out, isa.lanes) * rounded_up(in, 4);
  return isa.lanes == 1 ? 2 * computed > 3 * out * in : computed > 4 * out * in;
}

ConvProblem spread_groups(Lowering& lowering, const Node& node, const ConvProblem& problem) {
  const View from = every_product(problem);
  View to = from;
  to.buffer = lowering.scratch(DType::kU8, element_count(from.shape)).buffer;
  to.offset = 0;
  lay_out(to, row_major(to.rank()));
  auto step = std::make_unique<CopyStep>();
  step->kind = "spread";
  step->summary = "put the input channels of each output channel below each other";
  step->plan = make_copy(from, to);
  lowering.add(node, std::move(step), {{"x", &from}, {"y", &to}});
  ConvProblem out = problem;
  ConvGeometry& g = out.geometry;
  ConvAxis inputs;
  inputs.in = inputs.kernel = g.in_per_group();
  g.axes.push_back(inputs);
  g.in_channels = g.group = g.out_channels;
  out.x = as_operand(problem, to);
  out.y.shape.push_back(1);
  out.y.stride.push_back(problem.y.stride[1] * g.out_channels);
  out.y.halo_begin.push_back(0);
  out.y.halo_end.push_back(0);
  return out;
}

}  // namespace etch
