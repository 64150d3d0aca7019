// Operators that ONNX had on trial and took out, and that ONNX Runtime still runs up to operator
// set 9: files that WinMLTools and old converters of Core ML and Keras wrote have them.
//   Affine              alpha x + beta
//   Scale               scale x
//   ImageScaler         scale x, plus one bias per channel of [N, C, H, W]
//   ScaledTanh          alpha Tanh(beta x)
//   ParametricSoftplus  alpha Softplus(beta x)
//   Crop                Slice of rows and columns of [N, C, H, W]: `border` is left, top, right and
//                       bottom; with `scale`, the height and width to keep, only left and top count
#include "compiler/passes/compositions/rules.h"

namespace etch {

namespace {

// False after a report.
bool may_be_used(Parts& parts) {
  if (parts.onnx_opset() < 10) return parts.has_type(0, {DType::kF32});
  parts.fail(DiagKind::kVersion,
             cat("version 10 of ai.onnx took it out, the model imports ", parts.onnx_opset()));
  return false;
}

// False after a report unless input 0 is an image.
bool is_image(Parts& parts) {
  const Shape shape = parts.shape(0);
  if (shape.size() == 4) return true;
  parts.fail(DiagKind::kShape, cat("input 0: must be [N, C, H, W], got ", to_string(shape)));
  return false;
}

ValueId times(Parts& parts, ValueId x, float factor) {
  return parts.add("Mul", {x, parts.scalar(factor)});
}

void affine(Parts& parts) {
  if (!may_be_used(parts)) return;
  const ValueId product = times(parts, parts.input(0), parts.take<float>("alpha", 1));
  parts.add("Add", {product, parts.scalar(parts.take<float>("beta", 0))});
}

void scale(Parts& parts) {
  if (may_be_used(parts)) times(parts, parts.input(0), parts.take<float>("scale", 1));
}

void image_scaler(Parts& parts) {
  if (!may_be_used(parts) || !is_image(parts)) return;
  const auto bias = parts.take<std::vector<float>>("bias", {});
  const std::int64_t channels = parts.shape(0)[1];
  if (static_cast<std::int64_t>(bias.size()) != channels) {
    return parts.fail(DiagKind::kAttr, cat("attribute 'bias': must have ", channels,
                                           " elements, one per channel, has ", bias.size()));
  }
  const ValueId product = times(parts, parts.input(0), parts.take<float>("scale", 1));
  parts.add("Add", {product, parts.constant(Tensor::of<float>({1, channels, 1, 1}, bias))});
}

// Outer alpha, inner beta; ONNX Runtime has no default for them.
void scaled_function(Parts& parts, const char* function) {
  if (!may_be_used(parts)) return;
  for (const char* const name : {"alpha", "beta"}) {
    if (!parts.has(name))
      return parts.fail(DiagKind::kAttr, cat("attribute '", name, "' is missing"));
  }
  const ValueId inner = times(parts, parts.input(0), parts.take<float>("beta", 1));
  times(parts, parts.add(function, {inner}), parts.take<float>("alpha", 1));
}

void crop(Parts& parts) {
  if (!may_be_used(parts) || !is_image(parts)) return;
  const Shape shape = parts.shape(0);
  const Ints border = parts.take<Ints>("border", {});
  const Ints size = parts.take<Ints>("scale", {});
  if (border.size() != 4 || (!size.empty() && size.size() != 2)) {
    return parts.fail(DiagKind::kAttr,
                      "attribute 'border' must have 4 elements, 'scale' 2 or none");
  }
  ValueId y = parts.input(0);
  for (const std::size_t axis : {2U, 3U}) {
    const std::int64_t all = shape[axis], begin = border[3 - axis];
    const auto fits = [all](std::int64_t each) { return each >= 0 && each <= all; };
    const std::int64_t other = size.empty() ? border[5 - axis] : size[axis - 2];
    std::int64_t end = -1;
    if (fits(begin) && fits(other)) end = size.empty() ? all - other : begin + other;
    if (!fits(end) || begin >= end) {
      return parts.fail(DiagKind::kAttr,
                        cat("attributes 'border' and 'scale' keep nothing of axis ", axis, " of ",
                            to_string(shape), ", or exceed it"));
    }
    y = parts.slice(y, static_cast<std::int64_t>(axis), begin, end);
  }
}

constexpr Rule kExperimentalRules[] = {
    {"Affine", affine},
    {"Scale", scale},
    {"ImageScaler", image_scaler},
    {"ScaledTanh", [](Parts& parts) { scaled_function(parts, "Tanh"); }},
    {"ParametricSoftplus", [](Parts& parts) { scaled_function(parts, "Softplus"); }},
    {"Crop", crop}};

}  // namespace

std::span<const Rule> experimental_rules() { return kExperimentalRules; }

}  // namespace etch
