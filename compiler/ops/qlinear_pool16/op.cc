// Checks and shapes of QLinearAveragePool16 and QLinearGlobalAveragePool16; see op.h.
#include "compiler/ops/qlinear_pool16/op.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"

namespace etch {

namespace {

constexpr OpName kQLinearPool16Names[] = {{kEtch, "QLinearAveragePool16", 1},
                                          {kEtch, "QLinearGlobalAveragePool16", 1}};

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

void resolve_qlinear_pool16(ResolveContext& context) {
  if (!check_dtype(context, 0, "x", {DType::kU16, DType::kS16})) return;
  const DType type = context.dtype(0);
  const bool global = context.node().op_type == "QLinearGlobalAveragePool16";
  const bool counted = !global && context.int_attr("count_include_pad", 0) != 0;
  auto geometry = global ? whole_planes(context)
                         : resolve_pool_geometry(context, ConvLayout::kChannelsFirst,
                                                 {.ceil_mode = true, .dilations = true});
  const auto x = scalar_quantization(context, {"x", 1, 2}, type);
  const auto y = scalar_quantization(context, {"y", 3, 4}, type);
  if (!geometry || !x || !y) return;
  const QLinearPool16 params{type, *geometry, counted ? CountPadding::kYes : CountPadding::kNo, *x,
                             *y};
  if (positions(*geometry) > 32767) {
    context.error(DiagKind::kUnsupported, "a window has more than 32767 elements");
  } else if (!mean_factors16(params)) {
    context.error(DiagKind::kQuant, "the ratio of its scales is extreme");
  }
  context.set_output(0, type, params.geometry.output_shape());
  context.set_params(params);
}

// How many elements the smallest window of one axis has at least; full where nothing is clipped.
std::int64_t least_of(const ConvAxis& axis) {
  const std::int64_t reach = (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation;
  return axis.pad_begin == 0 && reach < axis.in ? axis.kernel : 1;
}

}  // namespace

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

}  // namespace etch
