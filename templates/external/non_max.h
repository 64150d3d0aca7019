// Descriptor of the function of runtime/etch_non_max.h; see templates/external.h.
#pragma once

#include "runtime/etch_non_max.h"
#include "templates/external.h"

namespace etch {
namespace external {

struct NonMaxSuppression : RuntimeFunction {
  NonMaxSuppression() : RuntimeFunction("non_max_suppression", "etch_non_max.h", FloatUse::kUsed) {}
  void operator()(const float* boxes, const float* scores, const std::int64_t* filler,
                  std::int32_t* heap, std::int64_t* y, int batches, int classes, int count,
                  int most, int rows, int is_centred, float limit, int has_threshold,
                  float threshold) const {
    rt::non_max_suppression(boxes, scores, filler, heap, y, batches, classes, count, most, rows,
                            is_centred, limit, has_threshold, threshold);
  }
  auto spans(const float* boxes, const float* scores, const std::int64_t* filler,
             std::int32_t* heap, std::int64_t* y, int batches, int classes, int count, int,
             int rows, int, float, int, float) const {
    const std::int64_t all = std::int64_t{batches} * count;
    return spans_of(span(boxes, {}, 4 * all), span(scores, {}, classes * all),
                    span(filler, {}, std::int64_t{3} * rows), span(heap, {}, count),
                    span(y, {}, std::int64_t{3} * rows));
  }
};

}  // namespace external
}  // namespace etch
