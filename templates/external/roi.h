// Descriptor of the function of runtime/etch_roi.h; see templates/external.h.
#pragma once

#include "runtime/etch_roi.h"
#include "templates/external.h"

namespace etch {
namespace external {

struct RoiAlign : RuntimeFunction {
  RoiAlign() : RuntimeFunction("roi_align", "etch_roi.h", FloatUse::kUsed) {}
  void operator()(const float* x, const float* boxes, const std::int64_t* images_of, float* y,
                  int images, int channels, int height, int width, int n, int rows, int cols,
                  int sampling, int is_max, int half_pixel, float scale) const {
    rt::roi_align(x, boxes, images_of, y, images, channels, height, width, n, rows, cols, sampling,
                  is_max, half_pixel, scale);
  }
  auto spans(const float* x, const float* boxes, const std::int64_t* images_of, float* y,
             int images, int channels, int height, int width, int n, int rows, int cols, int, int,
             int, float) const {
    const std::int64_t all = channels;
    return spans_of(span(x, {}, images * all * height * width),
                    span(boxes, {}, 4 * std::int64_t{n}), span(images_of, {}, n),
                    span(y, {}, n * all * rows * cols));
  }
};

}  // namespace external
}  // namespace etch
