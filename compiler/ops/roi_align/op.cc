// Resolves RoiAlign; see op.h.
#include "compiler/ops/roi_align/op.h"

#include <string>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> roi_align_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_roi_align(Lowering& lowering, const Node& node);

namespace {

constexpr std::int64_t kMostBins = 4096;
constexpr std::int64_t kMostSamples = 1024;
constexpr int kSinceHalfPixel = 16;  // the opset that added the attribute, with this default

bool shapes_fit(ResolveContext& context) {
  const Shape& x = context.shape(0);
  const Shape& rois = context.shape(1);
  const Shape& images = context.shape(2);
  const bool fits = x.size() == 4 && rois.size() == 2 && rois[1] == 4 && images.size() == 1 &&
                    images[0] == rois[0] && element_count(x) > 0;
  if (!fits) {
    context.error(DiagKind::kShape,
                  cat("X of shape ", to_string(x), ", rois of shape ", to_string(rois),
                      " and batch_indices of shape ", to_string(images),
                      " do not fit [N, C, H, W], [n, 4] and [n]"));
  }
  return fits;
}

// An integer attribute within limits, or an error.
std::int64_t limited(ResolveContext& context, const char* name, std::int64_t fallback,
                     std::int64_t low, std::int64_t high) {
  const std::int64_t value = context.int_attr(name, fallback);
  if (value < low || value > high) {
    context.attr_error(name, cat("must be ", low, " to ", high, ", got ", value));
  }
  return value;
}

// Whether the attribute has the first of two values; another is an error.
bool is_first(ResolveContext& context, const char* name, const std::string& fallback,
              const std::string& first, const std::string& second) {
  const std::string value = context.string_attr(name, fallback);
  if (value != first && value != second) {
    context.attr_error(name,
                       cat("must be ", first, " or ", second, ", got '", printable(value), "'"));
  }
  return value == first;
}

void resolve_roi_align(ResolveContext& context) {
  if (!check_dtype(context, 0, "X", {DType::kF32}) ||
      !check_dtype(context, 1, "rois", {DType::kF32}) ||
      !check_dtype(context, 2, "batch_indices", {DType::kS64}) || !shapes_fit(context)) {
    return;
  }
  RoiAlign params;
  params.rows = limited(context, "output_height", 1, 1, kMostBins);
  params.cols = limited(context, "output_width", 1, 1, kMostBins);
  params.sampling = limited(context, "sampling_ratio", 0, 0, kMostSamples);
  params.is_max = is_first(context, "mode", "avg", "max", "avg");
  const std::string by_opset =
      context.opset() < kSinceHalfPixel ? "output_half_pixel" : "half_pixel";
  params.half_pixel = is_first(context, "coordinate_transformation_mode", by_opset, "half_pixel",
                               "output_half_pixel");
  params.scale = context.float_attr("spatial_scale", 1);
  if (context.failed()) return;
  context.set_output(0, DType::kF32,
                     {context.shape(1)[0], context.shape(0)[1], params.rows, params.cols});
  context.set_params(params);
}

constexpr OpName kRoiAlignNames[] = {{kOnnx, "RoiAlign", 10}};
}  // namespace

extern const OpDef kOp_roi_align = {.folder = "roi_align",
                                    .names = kRoiAlignNames,
                                    .arity = {.min_inputs = 3, .max_inputs = 3},
                                    .resolve = resolve_roi_align,
                                    .reference = roi_align_reference,
                                    .lower = lower_roi_align};

}  // namespace etch
