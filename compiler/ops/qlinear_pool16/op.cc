// Checks and shapes of the means of 16 bits; see op.h.
#include "compiler/ops/qlinear_pool16/op.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"

namespace etch {

namespace {

constexpr OpName kQLinearPool16Names[] = {{kEtch, "QLinearAveragePool16", 1},
                                          {kEtch, "QLinearGlobalAveragePool16", 1}};
constexpr OpName kQLinearReduceMean16Names[] = {{kEtch, "QLinearReduceMean16", 1}};

// One window over each plane.
std::optional<PoolGeometry> whole_planes(ResolveContext& context) {
  const Shape& shape = context.shape(0);
  if (shape.size() < 3 || shape.size() > 5 || element_count(shape) == 0) {
    context.error(DiagKind::kUnsupported, "x must have 1 to 3 spatial axes and elements");
    return std::nullopt;
  }
  PoolGeometry out;
  out.batch = shape[0];
  out.channels = shape[1];
  for (std::size_t d = 2; d < shape.size(); ++d) {
    ConvAxis axis;
    axis.in = axis.kernel = shape[d];
    out.axes.push_back(axis);
  }
  return out;
}

std::int64_t positions(const PoolGeometry& geometry) {
  std::int64_t count = 1;
  for (const ConvAxis& axis : geometry.axes) count *= axis.kernel;
  return count;
}

// What all of them check; `shape` is y's.
void finish(ResolveContext& context, const PoolGeometry& geometry, CountPadding count_padding,
            const Shape& shape, bool of_axes) {
  const DType type = context.dtype(0);
  const auto x = scalar_quantization(context, {"x", 1, 2}, type);
  const auto y = scalar_quantization(context, {"y", 3, 4}, type);
  if (!x || !y) return;
  const QLinearPool16 params{type, geometry, shape, of_axes, count_padding, *x, *y};
  if (positions(geometry) > 32767) {
    context.error(DiagKind::kUnsupported, "a window has more than 32767 elements");
  } else if (!mean_factors16(params)) {
    context.error(DiagKind::kQuant, "the ratio of its scales is extreme");
  }
  context.set_output(0, type, shape);
  context.set_params(params);
}

void resolve_qlinear_pool16(ResolveContext& context) {
  if (!check_dtype(context, 0, "x", {DType::kU16, DType::kS16})) return;
  const bool global = context.node().op_type == "QLinearGlobalAveragePool16";
  const bool counted = !global && context.int_attr("count_include_pad", 0) != 0;
  auto geometry = global ? whole_planes(context)
                         : resolve_pool_geometry(context, ConvLayout::kChannelsFirst,
                                                 {.ceil_mode = true, .dilations = true});
  if (!geometry) return;
  finish(context, *geometry, counted ? CountPadding::kYes : CountPadding::kNo,
         geometry->output_shape(), false);
}

void resolve_qlinear_reduce_mean16(ResolveContext& context) {
  if (!check_dtype(context, 0, "x", {DType::kU16, DType::kS16})) return;
  const Shape& from = context.shape(0);
  const auto axes = normal_axes(context, context.ints_attr("axes").value_or(Shape{}),
                                static_cast<std::int64_t>(from.size()));
  const bool keep = context.int_attr("keepdims", 1) != 0;
  if (!axes) return;
  std::vector<bool> goes(from.size());
  for (const std::int64_t axis : *axes) goes[static_cast<std::size_t>(axis)] = true;
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!goes[i] || keep) shape.push_back(goes[i] ? 1 : from[i]);
  }
  if (const auto geometry = planes_of_axes(from, goes)) {
    finish(context, *geometry, CountPadding::kNo, shape, true);
  } else {
    context.error(DiagKind::kUnsupported, "its axes are not side by side, or have no element");
  }
}

// How many elements the smallest window of one axis has at least; full where nothing is clipped.
std::int64_t least_of(const ConvAxis& axis) {
  const std::int64_t reach = (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation;
  return axis.pad_begin == 0 && reach < axis.in ? axis.kernel : 1;
}

}  // namespace

std::optional<PoolGeometry> planes_of_axes(const Shape& shape, const std::vector<bool>& goes) {
  std::int64_t before = 1, within = 1, after = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (goes[i] && shape[i] != 1 && after > 1) return std::nullopt;
    if (goes[i]) {
      within *= shape[i];
    } else {
      (within > 1 ? after : before) *= shape[i];
    }
  }
  if (before * within * after == 0) return std::nullopt;
  PoolGeometry out;
  out.layout = after > 1 ? ConvLayout::kChannelsLast : ConvLayout::kChannelsFirst;
  out.batch = after > 1 ? before : 1;
  out.channels = after > 1 ? after : before;
  ConvAxis axis;
  axis.in = axis.kernel = within;
  out.axes = {axis};
  return out;
}

std::optional<MeanFactors16> mean_factors16(const QLinearPool16& pool) {
  const float scale[] = {pool.x.scale};
  const auto exact = exact_ratios(scale, pool.y.scale);
  std::int64_t least = 1;
  for (const ConvAxis& axis : pool.geometry.axes) least *= least_of(axis);
  const std::int64_t most = positions(pool.geometry);
  if (!exact || exact->unit > (std::uint64_t{1} << 61) / static_cast<std::uint64_t>(most))
    return std::nullopt;
  const auto ratio = [&](std::int64_t count) {
    return double{pool.x.scale} / pool.y.scale / static_cast<double>(count);
  };
  const double largest[] = {ratio(least)};
  MeanFactors16 out{*exact, static_cast<int>(least), bits_of_ratios(largest, 62), {}};
  // A sum is less than most * 2^16 and each factor off by at most 1/2: the guess is off by at most
  // 1/4 before it is rounded, and fits in 32 bits.
  int needed = 17;
  for (; std::int64_t{1} << (needed - 17) < most;) ++needed;
  if (out.bits < needed || largest[0] * static_cast<double>(most) > 0x1p14) return std::nullopt;
  for (std::int64_t count = least; count <= most; ++count)
    out.factors.push_back(rounded_ratio(ratio(count), out.bits));
  return out;
}

extern const OpDef kOp_qlinear_pool16 = {.folder = "qlinear_pool16",
                                         .names = kQLinearPool16Names,
                                         .arity = {.min_inputs = 5, .max_inputs = 5},
                                         .resolve = resolve_qlinear_pool16,
                                         .reference = reference_qlinear_pool16,
                                         .lower = lower_qlinear_pool16,
                                         .layout = channels_last_rule};

extern const OpDef kOp_qlinear_reduce_mean16 = {.folder = "qlinear_pool16",
                                                .names = kQLinearReduceMean16Names,
                                                .arity = {.min_inputs = 5, .max_inputs = 5},
                                                .resolve = resolve_qlinear_reduce_mean16,
                                                .reference = reference_qlinear_pool16,
                                                .lower = lower_qlinear_pool16};

}  // namespace etch
