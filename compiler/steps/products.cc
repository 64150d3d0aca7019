// Shared lowering of products with constant weights; see products.h.
#include "compiler/steps/products.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/steps/arguments.h"
#include "compiler/steps/arithmetic.h"
#include "compiler/steps/dsp_conv.h"
#include "compiler/steps/dsp_winograd.h"
#include "compiler/steps/general.h"
#include "compiler/steps/mve_conv.h"
#include "compiler/steps/mve_depthwise.h"
#include "compiler/steps/regions.h"

namespace etch {

View channels_first(const View& view, ConvLayout layout) {
  if (layout == ConvLayout::kChannelsFirst) return view;
  std::vector<int> perm{0, view.rank() - 1};
  for (int d = 1; d + 1 < view.rank(); ++d) perm.push_back(d);
  return permuted(view, perm);
}

Order conv_order(ConvLayout layout, int rank) {
  return layout == ConvLayout::kChannelsFirst ? channels_last(rank) : row_major(rank);
}

std::vector<int> centred_weights(const ConvGeometry& geometry, const Tensor& w,
                                 const std::vector<int>& zero_point) {
  std::int64_t taps = 1;
  for (const ConvAxis& axis : geometry.axes) taps *= axis.kernel;
  const std::int64_t in = geometry.in_per_group();
  const std::int64_t out = geometry.out_per_group();
  const std::vector<std::int64_t> raw = w.integers();
  std::vector<int> centred;
  centred.reserve(raw.size());
  for (std::int64_t m = 0; m < geometry.out_channels; ++m) {
    const int zero = zero_point[zero_point.size() == 1 ? 0 : static_cast<std::size_t>(m)];
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t c = 0; c < in; ++c) {
        const std::int64_t at = geometry.direction == ConvDirection::kForward
                                    ? (m * in + c) * taps + tap
                                    : ((m / out * in + c) * out + m % out) * taps + tap;
        centred.push_back(static_cast<int>(raw[static_cast<std::size_t>(at)]) - zero);
      }
    }
  }
  return centred;
}

std::vector<std::int32_t> bias_or_zero(const Lowering& lowering, const Node& node, int input,
                                       std::int64_t channels) {
  const bool present = static_cast<int>(node.inputs.size()) > input &&
                       node.inputs[static_cast<std::size_t>(input)] != kNoValue;
  if (!present) return std::vector<std::int32_t>(static_cast<std::size_t>(channels), 0);
  const auto values = lowering.constant(node, input).as<std::int32_t>();
  return {values.begin(), values.end()};
}

std::vector<float> per_channel(const std::vector<float>& scale, std::int64_t channels) {
  return scale.size() == 1 ? std::vector<float>(static_cast<std::size_t>(channels), scale[0])
                           : scale;
}

namespace {
// [1, columns, rows] over the memory of a row-major view of rows x columns elements.
View as_columns(const View& view, std::int64_t rows, std::int64_t columns) {
  View out = view;
  const std::int64_t bytes = bytes_of(view.dtype);
  out.shape = {1, columns, rows};
  out.stride = {rows * columns * bytes, bytes, columns * bytes};
  out.halo_begin = out.halo_end = {0, 0, 0};
  return out;
}
}  // namespace

ConvProblem matrix_problem(const View& x, const View& y, std::int64_t rows, std::int64_t depth,
                           std::int64_t columns) {
  ConvProblem problem;
  problem.geometry.in_channels = depth;
  problem.geometry.out_channels = columns;
  ConvAxis axis;
  axis.in = axis.out = rows;
  problem.geometry.axes = {axis};
  problem.x = as_columns(x, rows, depth);
  problem.y = as_columns(y, rows, columns);
  return problem;
}

namespace {
constexpr std::int64_t kSmallHalo = 8;  // per side: cheaper than border regions
constexpr std::size_t kMostRegions =
    16;  // more of them cost more code than a wide halo costs memory

bool wants_halo(const ConvGeometry& geometry) {
  bool small = true;
  std::size_t regions = 1;
  for (const ConvAxis& axis : geometry.axes) {
    const HaloNeed need = halo_need(axis, geometry.direction);
    small = small && need.begin <= kSmallHalo && need.end <= kSmallHalo;
    regions *= count_segments(axis, geometry.direction, 0, 0, kMostRegions).segments;
  }
  return small || regions > kMostRegions;
}
}  // namespace

std::optional<HaloWish> conv_halo(const ConvGeometry& geometry, int stored_zero_point) {
  if (!wants_halo(geometry)) return std::nullopt;
  const std::size_t rank = geometry.axes.size() + 2;
  const std::size_t first = geometry.layout == ConvLayout::kChannelsFirst ? 2 : 1;
  HaloWish wish;
  wish.begin.assign(rank, 0);
  wish.end.assign(rank, 0);
  wish.value = stored_zero_point;
  wish.forward_convolution = geometry.direction == ConvDirection::kForward;
  wish.per_channel = wish.forward_convolution && geometry.group > 1 &&
                     geometry.group == geometry.in_channels &&
                     geometry.group == geometry.out_channels;
  for (std::size_t a = 0; a < geometry.axes.size(); ++a) {
    const HaloNeed need = halo_need(geometry.axes[a], geometry.direction);
    wish.begin[first + a] = need.begin;
    wish.end[first + a] = need.end;
  }
  return wish;
}

namespace {
std::string sizes(const ConvGeometry& geometry, std::int64_t ConvAxis::*member) {
  std::string out;
  for (const ConvAxis& axis : geometry.axes) out += cat(out.empty() ? "" : "x", axis.*member);
  return out;
}

std::string describe(const ConvProblem& problem, const std::string& kind) {
  const ConvGeometry& g = problem.geometry;
  const bool matrix =
      g.axes.size() == 1 && g.axes[0].kernel == 1 && g.axes[0].stride == 1 && g.group == 1;
  if (matrix) {
    return cat("matrix product, ", g.axes[0].out, " x ", g.in_channels, " by ", g.in_channels,
               " x ", g.out_channels);
  }
  std::string out = cat(sizes(g, &ConvAxis::kernel),
                        g.direction == ConvDirection::kTransposed ? " transposed" : "",
                        kind == "depthwise" ? " depthwise" : "", " convolution, ", g.in_channels,
                        " -> ", g.out_channels, " channels, ", sizes(g, &ConvAxis::in), " -> ",
                        sizes(g, &ConvAxis::out), " pixels");
  const auto all = [&](std::int64_t ConvAxis::*member, std::int64_t value) {
    return std::all_of(g.axes.begin(), g.axes.end(),
                       [&](const ConvAxis& axis) { return axis.*member == value; });
  };
  if (!all(&ConvAxis::stride, 1)) out += cat(", stride ", sizes(g, &ConvAxis::stride));
  if (!all(&ConvAxis::dilation, 1)) out += cat(", dilation ", sizes(g, &ConvAxis::dilation));
  if (g.group > 1 && kind != "depthwise") out += cat(", ", g.group, " groups");
  return out;
}
}  // namespace

namespace {
// Without a halo the padding becomes border regions.
void ignore_halo(View& view) {
  view.halo_begin.assign(view.shape.size(), 0);
  view.halo_end.assign(view.shape.size(), 0);
}
}  // namespace

namespace {
constexpr std::size_t kMostRegionsAtAll = 512;
constexpr std::int64_t kMostTaps = std::int64_t{1} << 20;  // of all segments of an axis

// Whether there are too many border cases; reported then.
bool refuse_regions(Lowering& lowering, const Node& node, const ConvProblem& problem) {
  std::size_t count = 1;
  bool many_taps = false;
  for (std::size_t a = 0; a < problem.geometry.axes.size(); ++a) {
    const SegmentCount axis =
        count_segments(problem.geometry.axes[a], problem.geometry.direction,
                       problem.x.halo_begin[a + 2], problem.x.halo_end[a + 2], kMostRegionsAtAll);
    count *= axis.segments;
    many_taps = many_taps || (axis.segments > 1 && axis.taps > kMostTaps);
  }
  if (count <= kMostRegionsAtAll && !many_taps) return false;
  lowering.unsupported(
      node, cat("its padding or stride makes ",
                many_taps ? "too large" : cat("more than ", kMostRegionsAtAll), " border cases"));
  return true;
}
}  // namespace

namespace {
// Whether the tuning file wants what the step cannot be.
bool refuse_tuning(Lowering& lowering, const Node& node, const Step& step) {
  const auto* const conv = dynamic_cast<const ConvStep*>(&step);
  if (conv == nullptr || conv->tuning_fault.empty()) return false;
  lowering.unsupported(node, conv->tuning_fault);
  return true;
}
}  // namespace

namespace {
struct ScratchWish {
  const char* name;
  DType type;
  std::int64_t elements;  // 0: none
};

// A step in assembly: operands x, the residual, scratch memory, y.
void add_with_scratch(Lowering& lowering, const Node& node, const ConvProblem& problem,
                      std::unique_ptr<Step> step, const std::vector<ScratchWish>& wishes) {
  step->summary = describe(problem, step->kind);
  std::vector<View> scratch;
  std::vector<const char*> names;
  for (const ScratchWish& wish : wishes) {
    if (wish.elements == 0) continue;
    scratch.push_back(lowering.scratch(wish.type, wish.elements));
    lowering.align(scratch.back(), 4);
    names.push_back(wish.name);
  }
  lowering.align(problem.x, 4);
  lowering.align(problem.y, 4);
  std::vector<std::pair<const char*, const View*>> views = {{"x", &problem.x}};
  if (problem.residual) {
    step->facts.emplace_back("fused: another tensor is added to the result");
    views.emplace_back("residual", &problem.residual->view);
  }
  for (std::size_t i = 0; i < scratch.size(); ++i) views.emplace_back(names[i], &scratch[i]);
  views.emplace_back("y", &problem.y);
  lowering.add(node, std::move(step), std::move(views), 1, scratch.size());
}

// With the kernels in assembly, which bring scratch memory; false where they do not serve.
bool add_assembled(Lowering& lowering, const Node& node, const ConvProblem& problem) {
  std::unique_ptr<DspConvStep> step = make_dsp_conv_step(problem, lowering.isa());
  if (step == nullptr) return false;
  if (auto winograd = make_dsp_winograd_step(problem, lowering.isa(), *step)) {
    const std::vector<ScratchWish> wishes = {
        {"rows", DType::kU8, winograd->rows_bytes},
        {"transformed", DType::kS32, winograd->transformed_words}};
    add_with_scratch(lowering, node, problem, std::move(winograd), wishes);
    return true;
  }
  const std::vector<ScratchWish> wishes = {{"gathered", DType::kS32, step->gathered_words},
                                           {"rows", DType::kU8, step->rows_bytes},
                                           {"sums", DType::kS32, step->sums_words}};
  add_with_scratch(lowering, node, problem, std::move(step), wishes);
  return true;
}
}  // namespace

namespace {
// The same with the kernels for Helium, which read their input in words from where it is.
bool add_with_helium(Lowering& lowering, const Node& node, const ConvProblem& problem) {
  if (auto depthwise = make_mve_depthwise_step(problem, lowering.isa())) {
    depthwise->summary = describe(problem, depthwise->kind);
    const View scratch = lowering.scratch(DType::kU8, depthwise->plan.scratch_bytes);
    lowering.align(scratch, 4);
    lowering.add(node, std::move(depthwise),
                 {{"x", &problem.x}, {"scratch", &scratch}, {"y", &problem.y}}, 1, 1);
    return true;
  }
  std::unique_ptr<MveConvStep> step = make_mve_conv_step(problem, lowering.isa());
  if (step == nullptr || !lowering.align(problem.x, 4)) return false;
  step->summary = describe(problem, step->kind);
  std::vector<std::pair<const char*, const View*>> views = {{"x", &problem.x}};
  if (problem.residual) {
    step->facts.emplace_back("fused: another tensor is added to the result");
    views.emplace_back("residual", &problem.residual->view);
  }
  views.emplace_back("y", &problem.y);
  lowering.add(node, std::move(step), std::move(views));
  return true;
}
}  // namespace

void add_convolution(Lowering& lowering, const Node& node, const ConvProblem& problem) {
  if (element_count(problem.y.shape) == 0) {
    lowering.unsupported(node, "an empty output (a size of 0) cannot be compiled");
    return;
  }
  ConvProblem seen = problem;
  if (seen.x.halo_value != seen.x_zero_point) ignore_halo(seen.x);
  if (add_assembled(lowering, node, seen) || add_with_helium(lowering, node, seen)) return;
  if (refuse_regions(lowering, node, seen)) return;
  std::unique_ptr<Step> step = make_conv_step(seen, lowering.isa(), lowering.tuning());
  if (refuse_tuning(lowering, node, *step)) return;
  step->summary = describe(seen, step->kind);
  if (!seen.residual) {
    lowering.add(node, std::move(step), {{"x", &seen.x}, {"y", &seen.y}});
    return;
  }
  step->facts.emplace_back("fused: another tensor is added to the result");
  lowering.add(node, std::move(step),
               {{"x", &seen.x}, {"residual", &seen.residual->view}, {"y", &seen.y}});
}

namespace {

std::string range_fact(const ConvProblem& problem) {
  constexpr std::int64_t kMost = 255;  // |x - zero point|
  const std::int64_t terms = problem.taps() * problem.geometry.in_per_group();
  std::int64_t reach = 0;
  for (std::int64_t m = 0; m < problem.geometry.out_channels; ++m) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < terms; ++i)
      sum += std::abs(problem.weights[static_cast<std::size_t>(m * terms + i)]);
    reach = std::max(reach, kMost * sum);
  }
  return cat("accumulators stay within +-", reach, " for every zero point",
             reach <= std::numeric_limits<std::int32_t>::max() ? "" : ": int32 may wrap");
}

// The step that multiplies the zero point by `factors`; its output is the start of all lanes.
View add_fold(Lowering& lowering, const Node& node, ConstantArray factors, int offset,
              int zero_point) {
  auto step = std::make_unique<FoldStep>();
  step->kind = "start";
  step->summary = "what accumulators start from: -x_zero_point * sum(w), in lane order";
  StepArguments arguments(lowering, node, *step);
  step->plan.zero_point = arguments.parameter(zero_point, "zero_point").argument;
  step->plan.offset = offset;
  step->plan.n = static_cast<int>(factors.bytes.size() / sizeof(std::int32_t));
  factors.suffix = "factors";
  factors.comment = "-sum(w), in lane order";
  step->constants.push_back(std::move(factors));
  const View start = lowering.scratch(DType::kS32, step->plan.n);
  step->plan.start = arguments.output("start", start);
  arguments.add(std::move(step));
  return start;
}

ConstantArray take_constant(Step& step, const std::string& suffix) {
  const auto it = std::find_if(step.constants.begin(), step.constants.end(),
                               [&](const ConstantArray& c) { return c.suffix == suffix; });
  ETCH_CHECK(it != step.constants.end());
  ConstantArray out = std::move(*it);
  step.constants.erase(it);
  return out;
}

}  // namespace

void add_convolution(Lowering& lowering, const Node& node, ConvProblem problem, int zero_point) {
  ETCH_CHECK(problem.scale.empty());
  if (refuse_empty(lowering, node)) return;
  ignore_halo(problem.x);
  // With a zero point of 1 the step's biases are -sum(w): the factors of the real one.
  problem.x_zero_point = 1;
  problem.bias.assign(static_cast<std::size_t>(problem.geometry.out_channels), 0);
  std::unique_ptr<Step> made = make_conv_step(problem, lowering.isa(), lowering.tuning());
  if (refuse_tuning(lowering, node, *made)) return;
  auto* const step = dynamic_cast<ConvStep*>(made.get());
  ETCH_CHECK(step != nullptr);
  step->facts.front() = range_fact(problem);
  step->summary = describe(problem, step->kind);
  step->plan.start_is_operand = true;
  const View start = add_fold(lowering, node, take_constant(*step, "bias"),
                              lowering.stored_offset(problem.x), zero_point);
  lowering.add(node, std::move(made), {{"x", &problem.x}, {"start", &start}, {"y", &problem.y}});
}

}  // namespace etch
