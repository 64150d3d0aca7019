// Resolves Resize and Upsample; see op.h.
#include "compiler/ops/resize/op.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/antialias.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"
#include "compiler/ops/resize/arguments.h"

namespace etch {

std::vector<Tensor> resize_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_resize(Lowering& lowering, const Node& node);

namespace {

std::optional<Resize::Round> round_of(ResolveContext& context, const ResizeForm& form) {
  if (!form.has_modes) return Resize::Round::kSimple;
  const std::string name = context.string_attr("nearest_mode", "round_prefer_floor");
  if (name == "round_prefer_floor") return Resize::Round::kPreferFloor;
  if (name == "round_prefer_ceil") return Resize::Round::kPreferCeil;
  if (name == "floor") return Resize::Round::kFloor;
  if (name == "ceil") return Resize::Round::kCeil;
  context.attr_error("nearest_mode", cat("is not known: '", printable(name), "'"));
  return std::nullopt;
}

// The axes that linear mode works on, or nothing with a report.
std::optional<std::vector<std::size_t>> linear_axes(ResolveContext& context,
                                                    const std::vector<float>& scales) {
  const auto kept = [&](std::size_t axis) { return scales[axis] == 1.0F; };
  const std::size_t rank = scales.size();
  if (rank == 2) return std::vector<std::size_t>{0, 1};
  if (rank == 3) return std::vector<std::size_t>{0, 1, 2};
  if (rank == 4 && kept(0) && kept(1)) return std::vector<std::size_t>{2, 3};
  if (rank == 4 && kept(0) && kept(3)) return std::vector<std::size_t>{1, 2};
  if (rank == 5 && kept(0) && kept(1)) return std::vector<std::size_t>{2, 3, 4};
  context.error(DiagKind::kUnsupported,
                "linear mode needs rank 2 or 3, or rank 4 or 5 with a batch and a channel axis "
                "that keep their size");
  return std::nullopt;
}

// extrapolation_value as an element of the data's type.
std::optional<Tensor> extrapolation_value(ResolveContext& context, DType type, float value) {
  Tensor out(type, {});
  if (type == DType::kF32) {
    out.as<float>()[0] = value;
    return out;
  }
  const bool fits = is_8bit(type) && value > static_cast<float>(min_of(type)) - 1.0F &&
                    value < static_cast<float>(max_of(type)) + 1.0F;
  if (!fits) {
    context.attr_error("extrapolation_value", cat("is no ", name_of(type), ": ", decimal(value)));
    return std::nullopt;
  }
  out.mutable_bytes()[0] = static_cast<std::byte>(static_cast<std::int32_t>(value) & 0xff);
  return out;
}

bool set_cubic(ResolveContext& context, const ResizeSizes& sizes, Resize& params) {
  params.mode = Resize::Mode::kCubic;
  params.cubic_a = context.float_attr("cubic_coeff_a", -0.75F);
  params.exclude_outside = context.int_attr("exclude_outside", 0) != 0;
  if (!std::isfinite(params.cubic_a)) context.attr_error("cubic_coeff_a", "must be finite");
  if (!check_dtype(context, 0, "X", {DType::kF32}) || context.failed()) return false;
  const std::size_t rank = sizes.scales.size();
  const bool inner = rank == 4 && sizes.scales[0] == 1.0F && sizes.scales[1] == 1.0F;
  if (rank != 2 && !inner) {
    context.error(DiagKind::kUnsupported,
                  "cubic mode needs rank 2, or rank 4 with two outer axes that keep their size");
    return false;
  }
  params.linear = {rank - 2, rank - 1};
  return true;
}

// Of int8, ONNX Runtime's results below 0 are 0.
bool set_antialias(ResolveContext& context, const std::string& mode, const ResizeSizes& sizes,
                   Resize& params) {
  params.antialias = true;
  params.mode = mode == "cubic" ? Resize::Mode::kCubic : Resize::Mode::kLinear;
  params.cubic_a = context.float_attr("cubic_coeff_a", -0.75F);
  params.exclude_outside = context.int_attr("exclude_outside", 0) != 0;
  if (!std::isfinite(params.cubic_a)) context.attr_error("cubic_coeff_a", "must be finite");
  if (mode != "linear" && mode != "cubic") {
    context.attr_error("antialias", cat("needs mode linear or cubic, got '", printable(mode), "'"));
  }
  for (std::size_t d = 0; d < sizes.out.size(); ++d) {
    if (sizes.out[d] != context.shape(0)[d]) params.linear.push_back(d);
  }
  return check_dtype(context, 0, "X", {DType::kF32, DType::kU8}) && !context.failed();
}

bool set_mode(ResolveContext& context, const ResizeForm& form, const ResizeSizes& sizes,
              Resize& params) {
  const std::string mode = context.string_attr("mode", "nearest");
  const bool antialias = form.has_axes && context.int_attr("antialias", 0) != 0;
  const auto round = round_of(context, form);
  if (!round) return false;
  params.round = *round;
  if (sizes.out == context.shape(0)) {
    params.mode = Resize::Mode::kCopy;
    return true;
  }
  if (antialias) return set_antialias(context, mode, sizes, params);
  if (mode == "nearest") {
    params.mode = Resize::Mode::kNearest;
    return true;
  }
  if (mode == "cubic" && form.has_modes) return set_cubic(context, sizes, params);
  if (mode != "linear" && mode != "bilinear" && mode != "trilinear") {
    context.error(DiagKind::kAttr, cat("attribute 'mode' must be nearest, linear or cubic, got '",
                                       printable(mode), "'"));
    return false;
  }
  params.mode = Resize::Mode::kLinear;
  const DType type = context.dtype(0);
  if (!check_dtype(context, 0, "X", {DType::kF32, DType::kU8, DType::kS8})) return false;
  const auto axes = linear_axes(context, sizes.scales);
  if (!axes) return false;
  params.linear = *axes;
  const bool channels_last = axes->front() == 1 && sizes.out.size() == 4;
  if (is_8bit(type) && channels_last) params.arithmetic = Resize::Arithmetic::kFixedPoint;
  return true;
}

void ignore_options(ResolveContext& context, const ResizeForm& form) {
  if (!form.has_modes) return;
  context.ignore_attr("cubic_coeff_a");
  context.ignore_attr("exclude_outside");
}

// Whether the weights of all filters may be computed; E-LIMIT otherwise.
bool may_list_weights(ResolveContext& context, const Resize& params) {
  if (!params.antialias) return true;
  constexpr double kMost = 1e15;  // more than any limit
  const double radius = params.mode == Resize::Mode::kCubic ? 2 : 1;
  double weights = 0;
  for (const std::size_t axis : params.linear) {
    const ResizeAxis& along = params.axes[axis];
    const double width = 2 * radius * std::max(1 / static_cast<double>(along.scale), 1.0) + 1;
    weights += static_cast<double>(along.out) * std::min(width, static_cast<double>(along.in));
  }
  return context.may_list_positions({static_cast<std::int64_t>(std::min(weights, kMost))});
}

// Reports filters whose sums of bytes leave 32 bits.
bool check_sums(ResolveContext& context, const Resize& params) {
  if (!params.antialias || context.dtype(0) != DType::kU8) return true;
  for (const std::size_t axis : params.linear) {
    for (std::int64_t i = 0; i < params.axes[axis].out; ++i) {
      if (fits_sums_of_bytes(filter_taps(params, axis, i))) continue;
      context.attr_error("cubic_coeff_a", cat(decimal(params.cubic_a),
                                              " makes sums of bytes that need more than 32 "
                                              "bits"));
      return false;
    }
  }
  return true;
}

void resolve_resize(ResolveContext& context) {
  const ResizeForm form = form_of(context);
  const auto sizes = resize_sizes(context, form);
  if (!sizes) return;
  ignore_options(context, form);
  const auto transform = transform_of(context, form);
  if (!transform) return;
  Resize params;
  params.shape = sizes->out;
  context.set_output(0, context.dtype(0), params.shape);
  if (context.failed()) return;  // before positions of too many elements are listed
  if (!set_mode(context, form, *sizes, params)) return;
  if (params.mode != Resize::Mode::kCopy && !context.may_list_positions(params.shape)) return;
  const float value = form.has_modes ? context.float_attr("extrapolation_value", 0.0F) : 0.0F;
  params.extrapolate = transform->kind == ResizeTransform::Kind::kCropAndResize;
  if (params.extrapolate) {
    auto element = extrapolation_value(context, context.dtype(0), value);
    if (!element) return;
    params.value = std::move(*element);
  }
  for (std::size_t d = 0; d < sizes->out.size(); ++d) {
    ResizeAxis axis{context.shape(0)[d], sizes->out[d], sizes->scales[d], {}};
    if (params.mode != Resize::Mode::kCopy && sizes->scales[d] != 1.0F)
      axis.position = positions_along(*transform, d, axis.in, axis.out, sizes->scales[d]);
    params.axes.push_back(std::move(axis));
  }
  if (may_list_weights(context, params) && check_sums(context, params))
    context.set_params(std::move(params));
}

// Nearest neighbours only move; linear mode computes, and extrapolation invents.
ElementRule elements(const Node& node) {
  const auto& params = params_of<Resize>(node);
  const bool computes = params.mode == Resize::Mode::kLinear || params.mode == Resize::Mode::kCubic;
  return computes || params.extrapolate ? ElementRule::kMixed : ElementRule::kMoved;
}

constexpr OpName kResizeNames[] = {{kOnnx, "Resize", 10}, {kOnnx, "Upsample", 7}};
}  // namespace

extern const OpDef kOp_resize = {.folder = "resize",
                                 .names = kResizeNames,
                                 .arity = {.min_inputs = 1, .max_inputs = 4},
                                 .resolve = resolve_resize,
                                 .reference = resize_reference,
                                 .lower = lower_resize,
                                 .elements = elements,
                                 .layout = any_order_rule};

}  // namespace etch
