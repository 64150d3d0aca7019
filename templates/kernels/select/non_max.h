// The boxes that no better box overlaps too much: one call of runtime/etch_non_max.h.
#pragma once

#include "templates/external/non_max.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Boxes, scores and filler are dense; `heap` is scratch for the numbers of one batch's boxes.
struct NonMaxPlan {
  Argument boxes, scores, filler;
  int heap = 0, y = 0;  // operands of the step
  int batches = 1, classes = 1, count = 1, most = 0, rows = 0;
  bool is_centred = false, has_threshold = false;
  float limit = 0, threshold = 0;
};

template <class S>
void non_max_kernel(S& s, const NonMaxPlan& p) {
  s.call(external::NonMaxSuppression{}, pointer_to<float>(s, p.boxes),
         pointer_to<float>(s, p.scores), pointer_to<std::int64_t>(s, p.filler),
         s.template operand<std::int32_t>(p.heap), s.template operand<std::int64_t>(p.y), p.batches,
         p.classes, p.count, p.most, p.rows, p.is_centred ? 1 : 0, p.limit, p.has_threshold ? 1 : 0,
         p.threshold);
}

}  // namespace etch
