// Averages or maxima of a map within boxes: one call of runtime/etch_roi.h.
#pragma once

#include "templates/external/roi.h"
#include "templates/kernels/arguments.h"

namespace etch {

// All operands are dense, x and y with channels before rows and columns.
struct RoiAlignPlan {
  Argument x, boxes, images_of;
  int y = 0;  // operand of the step
  int images = 1, channels = 1, height = 1, width = 1, count = 1;
  int rows = 1, cols = 1, sampling = 0;
  bool is_max = false, half_pixel = false;
  float scale = 1;
};

template <class S>
void roi_align_kernel(S& s, const RoiAlignPlan& p) {
  s.call(external::RoiAlign{}, pointer_to<float>(s, p.x), pointer_to<float>(s, p.boxes),
         pointer_to<std::int64_t>(s, p.images_of), s.template operand<float>(p.y), p.images,
         p.channels, p.height, p.width, p.count, p.rows, p.cols, p.sampling, p.is_max ? 1 : 0,
         p.half_pixel ? 1 : 0, p.scale);
}

}  // namespace etch
