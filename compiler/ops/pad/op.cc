// Resolves Pad; see op.h.
#include "compiler/ops/pad/op.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "compiler/base/checked.h"
#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> pad_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_pad(Lowering& lowering, const Node& node);
std::vector<PlacedInput> pad_placed(const Graph& graph, const Node& node);

namespace {
constexpr std::int64_t kInputsSince = 11;

bool arguments_are_inputs(const ResolveContext& context) {
  return context.node().domain == kMicrosoft || context.opset() >= kInputsSince;
}

std::optional<Pad::Mode> mode_of(ResolveContext& context) {
  const std::string name = context.string_attr("mode", "constant");
  if (name == "constant") return Pad::Mode::kConstant;
  if (name == "edge") return Pad::Mode::kEdge;
  if (name == "reflect") return Pad::Mode::kReflect;
  if (name == "wrap") return Pad::Mode::kWrap;
  context.attr_error("mode",
                     cat("must be constant, edge, reflect or wrap, got '", printable(name), "'"));
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> pads_of(ResolveContext& context) {
  if (arguments_are_inputs(context)) {
    if (context.has_input(1)) return constant_ints(context, 1, "pads");
    context.error(DiagKind::kGraph, "input 1 (pads) is missing");
    return std::nullopt;
  }
  if (context.input_count() > 1) {
    context.error(DiagKind::kGraph,
                  cat("pads are an attribute before operator set ", kInputsSince));
    return std::nullopt;
  }
  auto pads = context.ints_attr("pads");
  if (!pads) context.attr_error("pads", "is missing");
  return pads;
}

// The axes that the pads are about, in their order.
std::optional<std::vector<std::int64_t>> axes_of(ResolveContext& context, std::int64_t rank) {
  std::vector<std::int64_t> axes(as_index(rank));
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  if (!arguments_are_inputs(context) || !context.has_input(3)) return axes;
  if (context.node().domain == kOnnx && context.opset() < 18) {
    context.error(DiagKind::kGraph, "input 3 (axes) exists since operator set 18");
    return std::nullopt;
  }
  auto given = constant_ints(context, 3, "axes");
  if (!given || !normal_axes(context, *given, rank)) return std::nullopt;
  for (std::int64_t& axis : *given) axis = *normal_axis(axis, rank);
  return given;
}

std::optional<Tensor> value_of(ResolveContext& context) {
  const DType type = context.dtype(0);
  if (!arguments_are_inputs(context)) {
    if (type != DType::kF32) {
      context.input_error(
          DiagKind::kType, 0, "data",
          cat("must be float32 before operator set ", kInputsSince, ", got ", name_of(type)));
      return std::nullopt;
    }
    return Tensor::of<float>({}, {context.float_attr("value", 0.0F)});
  }
  if (!context.has_input(2)) return Tensor(type, {});
  if (context.dtype(2) != type) {
    context.input_error(DiagKind::kType, 2, "constant_value",
                        cat("must be ", name_of(type), ", got ", name_of(context.dtype(2))));
    return std::nullopt;
  }
  if (element_count(context.shape(2)) != 1) {
    context.input_error(DiagKind::kShape, 2, "constant_value",
                        cat("must have one element, got ", element_count(context.shape(2))));
    return std::nullopt;
  }
  const Tensor* const known = context.constant(2);
  const auto value = known == nullptr ? context.dequantized_constant(2) : std::optional(*known);
  if (!value) {
    context.needs_constant(2, "constant_value");
    return std::nullopt;
  }
  return value->reshaped({});
}

bool check_axis(ResolveContext& context, const PadAxis& axis, Pad::Mode mode, std::int64_t size) {
  if (axis.size < 0) {
    context.error(DiagKind::kShape,
                  cat("pads remove more than the ", size, " elements of an axis"));
    return false;
  }
  const std::int64_t longest = std::max(axis.begin, axis.end);
  if (longest == 0 || mode == Pad::Mode::kConstant) return true;
  if (axis.size == 0) {
    context.error(DiagKind::kShape, "pads repeat elements of an axis that has none");
    return false;
  }
  if (mode == Pad::Mode::kReflect && longest >= axis.size) {
    context.error(DiagKind::kShape, cat("mirrored pads must be shorter than the axis: ", longest,
                                        " beside ", axis.size, " elements"));
    return false;
  }
  return true;
}

// One axis, or nothing with a report.
std::optional<PadAxis> axis_of(ResolveContext& context, Pad::Mode mode, std::int64_t size,
                               std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kMostCropped = std::int64_t{1} << 40;  // beyond every size; negatable
  const auto total = checked_add(begin, end);
  if (begin < -kMostCropped || end < -kMostCropped || !total || !checked_add(*total, size) ||
      !checked_add(size, begin) || !checked_add(size, end)) {
    context.error(DiagKind::kLimit, "pads are too large");
    return std::nullopt;
  }
  PadAxis axis{-std::min<std::int64_t>(begin, 0), 0, std::max<std::int64_t>(begin, 0),
               std::max<std::int64_t>(end, 0)};
  axis.size = size - axis.first + std::min<std::int64_t>(end, 0);
  if (!check_axis(context, axis, mode, size)) return std::nullopt;
  return axis;
}

void resolve_pad(ResolveContext& context) {
  const Shape& from = context.shape(0);
  const std::int64_t rank = rank_of(from);
  const auto mode = mode_of(context);
  const auto pads = pads_of(context);
  const auto axes = axes_of(context, rank);
  auto value = value_of(context);
  if (!mode || !pads || !axes || !value) return;
  if (*mode == Pad::Mode::kWrap && context.node().domain == kOnnx && context.opset() < 19) {
    context.attr_error("mode", "wrap exists since operator set 19");
    return;
  }
  if (pads->size() != 2 * axes->size()) {
    context.error(DiagKind::kShape, cat("pads must have two entries for each of ", axes->size(),
                                        " axes, got ", pads->size()));
    return;
  }
  Pad params{*mode, {}, std::move(*value), from};
  for (const std::int64_t size : from) params.axes.push_back({0, size, 0, 0});
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const std::size_t d = as_index((*axes)[i]);
    const auto axis = axis_of(context, *mode, from[d], (*pads)[i], (*pads)[i + axes->size()]);
    if (!axis) return;
    params.axes[d] = *axis;
    params.shape[d] = axis->begin + axis->size + axis->end;
  }
  context.set_output(0, context.dtype(0), params.shape);
  if (context.failed()) return;
  if (*mode != Pad::Mode::kConstant && !context.may_list_positions(params.shape)) return;
  context.set_params(std::move(params));
}

constexpr OpName kPadNames[] = {{kOnnx, "Pad", 2}, {kMicrosoft, "Pad", 1}};
}  // namespace

std::int64_t source_of(const PadAxis& axis, Pad::Mode mode, std::int64_t at) {
  const std::int64_t inside = at - axis.begin;
  const std::int64_t last = axis.size - 1;
  if (inside >= 0 && inside <= last) return axis.first + inside;
  switch (mode) {
    case Pad::Mode::kConstant:
      return -1;
    case Pad::Mode::kEdge:
      return axis.first + (inside < 0 ? 0 : last);
    case Pad::Mode::kReflect:
      return axis.first + (inside < 0 ? -inside : 2 * last - inside);
    case Pad::Mode::kWrap:
      return axis.first + (inside % axis.size + axis.size) % axis.size;
  }
  ETCH_CHECK(false);
}

extern const OpDef kOp_pad = {.folder = "pad",
                              .names = kPadNames,
                              .arity = {.min_inputs = 1, .max_inputs = 4},
                              .resolve = resolve_pad,
                              .reference = pad_reference,
                              .lower = lower_pad,
                              .layout = any_order_rule,
                              .placed = pad_placed};

}  // namespace etch
