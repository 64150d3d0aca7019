// The arguments of Resize and Upsample in all their forms; see op.h.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ops/op.h"

namespace etch {

// What the operator set has and where.
struct ResizeForm {
  int scales = -1;  // inputs; -1: there is none
  int sizes = -1;
  int roi = -1;
  bool has_modes = false;  // coordinate_transformation_mode and what came with it
  bool has_axes = false;   // axes, keep_aspect_ratio_policy, antialias
};
ResizeForm form_of(const ResolveContext& context);

struct ResizeSizes {
  Shape out;
  std::vector<float> scales;  // one per axis, > 0
};
// Reports and returns nothing when scales and sizes are wrong, both missing or not constant.
std::optional<ResizeSizes> resize_sizes(ResolveContext& context, const ResizeForm& form);

struct ResizeTransform {
  enum class Kind {
    kAsymmetric,
    kHalfPixel,
    kHalfPixelSymmetric,
    kPytorchHalfPixel,
    kAlignCorners,
    kHalfPixelForNearest,
    kCropAndResize
  };
  Kind kind = Kind::kHalfPixel;
  std::vector<float> start, end;  // one per axis: kCropAndResize
};
std::optional<ResizeTransform> transform_of(ResolveContext& context, const ResizeForm& form);

// The positions in the input of all output positions along `axis`.
std::vector<float> positions_along(const ResizeTransform& transform, std::size_t axis,
                                   std::int64_t in, std::int64_t out, float scale);

}  // namespace etch
