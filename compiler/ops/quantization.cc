// Reading and checking of scales and zero points; see quantization.h.
#include "compiler/ops/quantization.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/text.h"

namespace etch {

std::vector<Shape> per_tensor_shapes() { return {{}, {1}}; }

std::vector<Shape> per_channel_shapes(std::int64_t channels) { return {{}, {1}, {channels}}; }

bool check_float32(ResolveContext& context, int input, const char* role) {
  const DType type = context.dtype(input);
  if (type == DType::kF32) return true;
  const Node& node = context.node();
  const bool half = type == DType::kF16 || type == DType::kBF16;
  const bool legal =
      half && node.op_type != "QLinearConv" && node.op_type != "QLinearConvTranspose";
  context.input_error(legal ? DiagKind::kUnsupported : DiagKind::kType, input, role,
                      cat("must be float32, got ", name_of(type)));
  return false;
}

namespace {

bool shape_is_allowed(ResolveContext& context, int input, const std::string& role,
                      const std::vector<Shape>& shapes) {
  const Shape& shape = context.shape(input);
  if (std::find(shapes.begin(), shapes.end(), shape) != shapes.end()) return true;
  std::string allowed;
  for (const Shape& each : shapes) allowed += cat(allowed.empty() ? "" : " or ", to_string(each));
  context.input_error(DiagKind::kQuant, input, role.c_str(),
                      cat("shape must be ", allowed, ", got ", to_string(shape)));
  return false;
}

// "'conv1.weight_scale' " for messages; nothing for a tensor without a name.
std::string tensor_name(const ResolveContext& context, int input) {
  const std::string& name = context.input(input).name;
  return name.empty() ? "" : cat("'", printable(name), "' ");
}

// Quantizers take the range of a constant as it is, and masks of attention have -inf.
constexpr const char* kInfinite =
    "; a constant with -inf, as a mask of attention has, was quantized: put a number such as "
    "-10000 there before, or exclude the node";

bool scales_are_usable(ResolveContext& context, int input, const std::string& role,
                       ScaleRule rule) {
  const auto scales = context.constant(input)->as<float>();
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (std::isfinite(scales[i]) && (scales[i] > 0 || rule == ScaleRule::kFinite)) continue;
    const std::string entry = scales.size() == 1 ? "" : cat(" at entry ", i);
    context.input_error(
        DiagKind::kQuant, input, role.c_str(),
        cat(tensor_name(context, input),
            rule == ScaleRule::kFinite ? "must be finite" : "must be finite and > 0", ", got ",
            decimal(scales[i]), entry, std::isinf(scales[i]) ? kInfinite : ""));
    return false;
  }
  return true;
}

// True when the scale is right as far as it is known.
bool check_scale(ResolveContext& context, int input, const std::string& role,
                 const std::vector<Shape>& shapes, ScaleRule rule) {
  if (!context.has_input(input)) {
    context.error(DiagKind::kGraph, cat("input ", input, " (", role, ") is missing"));
    return false;
  }
  return check_float32(context, input, role.c_str()) &&
         shape_is_allowed(context, input, role, shapes) &&
         (context.constant(input) == nullptr || scales_are_usable(context, input, role, rule));
}

bool check_zero_point(ResolveContext& context, int input, const std::string& role, DType type,
                      const std::vector<Shape>& shapes) {
  if (!context.has_input(input)) return true;
  if (context.dtype(input) != type) {
    context.input_error(DiagKind::kType, input, role.c_str(),
                        cat("must have the operand's type ", name_of(type), ", got ",
                            name_of(context.dtype(input))));
    return false;
  }
  return shape_is_allowed(context, input, role, shapes);
}

bool known_or_omitted(const ResolveContext& context, int input) {
  return !context.has_input(input) || context.constant(input) != nullptr;
}

const Tensor* constant_or_null(const ResolveContext& context, int input) {
  return context.has_input(input) ? context.constant(input) : nullptr;
}

}  // namespace

std::optional<Quantization> resolve_quantization(ResolveContext& context,
                                                 const QuantizationInputs& inputs, DType type,
                                                 const std::vector<Shape>& shapes, ScaleRule rule) {
  const bool scale_ok =
      check_scale(context, inputs.scale, cat(inputs.operand, "_scale"), shapes, rule);
  const bool zero_point_ok = check_zero_point(context, inputs.zero_point,
                                              cat(inputs.operand, "_zero_point"), type, shapes);
  const Tensor* scale = context.constant(inputs.scale);
  if (!scale_ok || !zero_point_ok || scale == nullptr) return std::nullopt;
  if (!known_or_omitted(context, inputs.zero_point)) return std::nullopt;
  if (std::ranges::any_of(scale->as<float>(), [](float each) { return !(each > 0); }))
    return std::nullopt;
  return quantization_of(*scale, constant_or_null(context, inputs.zero_point));
}

std::optional<std::vector<int>> resolve_zero_points(ResolveContext& context, int input,
                                                    const char* role, DType type,
                                                    const std::vector<Shape>& shapes) {
  if (!check_zero_point(context, input, role, type, shapes)) return std::nullopt;
  if (!known_or_omitted(context, input)) return std::nullopt;
  return zero_points_of(constant_or_null(context, input));
}

std::vector<float> combined_scale(const Quantization& x, const Quantization& w,
                                  const Quantization& y) {
  std::vector<float> out;
  out.reserve(w.scale.size());
  for (const float w_scale : w.scale) {
    const float product = x.scale[0] * w_scale;
    out.push_back(product / y.scale[0]);
  }
  return out;
}

void check_combined_scale(ResolveContext& context, const std::vector<float>& scale) {
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (std::isfinite(scale[i]) && scale[i] != 0) continue;
    const std::string channel = scale.size() == 1 ? "" : cat(" for channel ", i);
    context.error(DiagKind::kQuant, cat("the combined scale (input scale * weight scale / output "
                                        "scale) must be finite and > 0 in float32, got ",
                                        decimal(scale[i]), channel));
    return;
  }
}

}  // namespace etch
