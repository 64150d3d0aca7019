// Reads the arguments of Resize and Upsample; see arguments.h.
#include "compiler/ops/resize/arguments.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"

namespace etch {

namespace {

bool has_elements(const ResolveContext& context, int i) {
  return i >= 0 && context.has_input(i) && element_count(context.shape(i)) > 0;
}

// The axes that the arguments are about, in their order.
std::optional<std::vector<std::int64_t>> axes_of(ResolveContext& context, const ResizeForm& form) {
  const std::int64_t rank = rank_of(context.shape(0));
  std::vector<std::int64_t> axes(as_index(rank));
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  auto given = form.has_axes ? context.ints_attr("axes") : std::nullopt;
  if (!given) return axes;
  if (!normal_axes(context, *given, rank)) return std::nullopt;
  for (std::int64_t& axis : *given) axis = *normal_axis(axis, rank);
  return given;
}

std::optional<std::vector<float>> constant_floats(ResolveContext& context, int i,
                                                  const char* role) {
  if (!check_dtype(context, i, role, {DType::kF32})) return std::nullopt;
  const Tensor* tensor = context.constant(i);
  if (tensor == nullptr) {
    context.needs_constant(i, role);
    return std::nullopt;
  }
  const auto values = tensor->as<float>();
  return std::vector<float>(values.begin(), values.end());
}

bool check_count(ResolveContext& context, const char* role, std::size_t got, std::size_t wanted) {
  if (got == wanted) return true;
  context.error(DiagKind::kShape, cat(role, " must have ", wanted, " elements, got ", got));
  return false;
}

std::optional<ResizeSizes> from_scales(ResolveContext& context, const ResizeForm& form,
                                       const std::vector<std::int64_t>& axes) {
  const auto scales = form.scales < 0 ? context.floats_attr("scales")
                                      : constant_floats(context, form.scales, "scales");
  if (!scales || !check_count(context, "scales", scales->size(), axes.size())) return std::nullopt;
  ResizeSizes out{context.shape(0), std::vector<float>(context.shape(0).size(), 1.0F)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = as_index(axes[i]);
    const float scale = (*scales)[i];
    const float size = scale * static_cast<float>(out.out[d]);
    constexpr float kMost = 1e9F;
    if (!(scale > 0.0F) || !(size < kMost)) {
      context.error(DiagKind::kShape,
                    cat("scales: cannot scale ", out.out[d], " elements by ", decimal(scale)));
      return std::nullopt;
    }
    out.scales[d] = scale;
    out.out[d] = static_cast<std::int64_t>(size);
  }
  return out;
}

// Makes the sizes fit: every axis takes the least or the greatest ratio.
bool keep_aspect_ratio(ResolveContext& context, const ResizeForm& form,
                       const std::vector<std::int64_t>& axes, ResizeSizes& sizes) {
  const std::string policy =
      form.has_axes ? context.string_attr("keep_aspect_ratio_policy", "stretch") : "stretch";
  if (policy == "stretch") return true;
  if (policy != "not_larger" && policy != "not_smaller") {
    context.attr_error("keep_aspect_ratio_policy", cat("is not known: '", printable(policy), "'"));
    return false;
  }
  float ratio = sizes.scales[as_index(axes.front())];
  for (const std::int64_t axis : axes) {
    const float scale = sizes.scales[as_index(axis)];
    ratio = policy == "not_larger" ? std::min(ratio, scale) : std::max(ratio, scale);
  }
  for (const std::int64_t axis : axes) {
    const std::size_t d = as_index(axis);
    sizes.scales[d] = ratio;
    const float size = ratio * static_cast<float>(context.shape(0)[d]);
    sizes.out[d] = static_cast<std::int64_t>(std::round(size));
  }
  return true;
}

std::optional<ResizeSizes> from_sizes(ResolveContext& context, const ResizeForm& form,
                                      const std::vector<std::int64_t>& axes) {
  const auto given = constant_ints(context, form.sizes, "sizes");
  if (!given || !check_count(context, "sizes", given->size(), axes.size())) return std::nullopt;
  ResizeSizes out{context.shape(0), std::vector<float>(context.shape(0).size(), 1.0F)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = as_index(axes[i]);
    constexpr std::int64_t kMost = 1'000'000'000;
    if ((*given)[i] < 1 || (*given)[i] > kMost || out.out[d] == 0) {
      context.error(DiagKind::kShape,
                    cat("sizes: cannot resize ", out.out[d], " elements to ", (*given)[i]));
      return std::nullopt;
    }
    out.scales[d] = static_cast<float>((*given)[i]) / static_cast<float>(out.out[d]);
    out.out[d] = (*given)[i];
  }
  if (!axes.empty() && !keep_aspect_ratio(context, form, axes, out)) return std::nullopt;
  return out;
}

std::optional<ResizeTransform::Kind> kind_of(const std::string& name, std::int64_t opset) {
  using Kind = ResizeTransform::Kind;
  if (name == "asymmetric") return Kind::kAsymmetric;
  if (name == "half_pixel") return Kind::kHalfPixel;
  if (name == "pytorch_half_pixel") return Kind::kPytorchHalfPixel;
  if (name == "align_corners") return Kind::kAlignCorners;
  if (name == "tf_crop_and_resize") return Kind::kCropAndResize;
  if (name == "tf_half_pixel_for_nn" && opset < 13) return Kind::kHalfPixelForNearest;
  if (name == "half_pixel_symmetric" && opset >= 19) return Kind::kHalfPixelSymmetric;
  return std::nullopt;
}

}  // namespace

ResizeForm form_of(const ResolveContext& context) {
  const std::int64_t opset = context.opset();
  ResizeForm form;
  if (context.node().op_type == "Upsample") {
    form.scales = opset >= 9 ? 1 : -1;
    return form;
  }
  form.scales = opset >= 11 ? 2 : 1;
  form.sizes = opset >= 11 ? 3 : -1;
  form.roi = opset >= 11 ? 1 : -1;
  form.has_modes = opset >= 11;
  form.has_axes = opset >= 18;
  return form;
}

std::optional<ResizeSizes> resize_sizes(ResolveContext& context, const ResizeForm& form) {
  const auto axes = axes_of(context, form);
  if (!axes) return std::nullopt;
  const bool as_attribute = form.scales < 0;
  const bool scaled =
      as_attribute ? context.has_attr("scales") : has_elements(context, form.scales);
  const bool sized = has_elements(context, form.sizes);
  if (scaled == sized) {
    context.error(DiagKind::kGraph, scaled ? "has both scales and sizes" : "scales are missing");
    return std::nullopt;
  }
  if (form.has_axes && scaled) context.ignore_attr("keep_aspect_ratio_policy");
  return scaled ? from_scales(context, form, *axes) : from_sizes(context, form, *axes);
}

std::optional<ResizeTransform> transform_of(ResolveContext& context, const ResizeForm& form) {
  ResizeTransform out;
  if (!form.has_modes) {
    out.kind = ResizeTransform::Kind::kAsymmetric;
    return out;
  }
  const std::string name = context.string_attr("coordinate_transformation_mode", "half_pixel");
  const auto kind = kind_of(name, context.opset());
  if (!kind) {
    context.attr_error(
        "coordinate_transformation_mode",
        cat("is not known in operator set ", context.opset(), ": '", printable(name), "'"));
    return std::nullopt;
  }
  out.kind = *kind;
  if (*kind != ResizeTransform::Kind::kCropAndResize) return out;
  const auto axes = axes_of(context, form);
  if (!axes) return std::nullopt;
  if (!has_elements(context, form.roi)) {
    context.error(DiagKind::kGraph, "tf_crop_and_resize needs roi");
    return std::nullopt;
  }
  const auto roi = constant_floats(context, form.roi, "roi");
  if (!roi || !check_count(context, "roi", roi->size(), 2 * axes->size())) return std::nullopt;
  out.start.assign(context.shape(0).size(), 0.0F);
  out.end.assign(context.shape(0).size(), 1.0F);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    out.start[as_index((*axes)[i])] = (*roi)[i];
    out.end[as_index((*axes)[i])] = (*roi)[i + axes->size()];
  }
  return out;
}

std::vector<float> positions_along(const ResizeTransform& transform, std::size_t axis,
                                   std::int64_t in, std::int64_t out, float scale) {
  using Kind = ResizeTransform::Kind;
  const auto size = static_cast<float>(in);
  const auto resized = static_cast<float>(out);
  const float last = size - 1.0F;
  const auto position = [&](float x) -> float {
    switch (transform.kind) {
      case Kind::kAsymmetric:
        return x / scale;
      case Kind::kHalfPixel:
        return (x + 0.5F) / scale - 0.5F;
      case Kind::kPytorchHalfPixel:
        return out > 1 ? (x + 0.5F) / scale - 0.5F : 0.0F;
      case Kind::kHalfPixelForNearest:
        return (x + 0.5F) / scale;
      case Kind::kAlignCorners:
        return out == 1 ? 0.0F : x * last / (resized - 1.0F);
      case Kind::kHalfPixelSymmetric: {
        const float adjustment = resized / (scale * size);
        const float offset = size / 2.0F * (1.0F - adjustment);
        return static_cast<float>(double{offset} + (double{x} + 0.5) / double{scale} - 0.5);
      }
      case Kind::kCropAndResize: {
        const float start = transform.start[axis];
        const float end = transform.end[axis];
        return out > 1 ? start * last + x * (end - start) * last / (resized - 1.0F)
                       : 0.5F * (start + end) * last;
      }
    }
    return 0.0F;
  };
  std::vector<float> positions;
  for (std::int64_t x = 0; x < out; ++x) positions.push_back(position(static_cast<float>(x)));
  return positions;
}

}  // namespace etch
