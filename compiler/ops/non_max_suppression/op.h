// NonMaxSuppression (ai.onnx, since 10): the boxes that no better box overlaps too much, as rows of
// [batch, class, box]. How many rows there are follows from the values of `boxes` and `scores`, so
// that neither the output nor anything after it has a shape that is known when compiling. It is
// refused, with the names of the tensors at which to cut the network, except
//   - where Concat appends rows to it and Slice keeps the first of both: passes/fixed_boxes makes
//     these three FilledNonMaxSuppression (org.etch), whose inputs are those of NonMaxSuppression
//     (5), the appended rows, and starts, ends, axes and steps of Slice;
//   - where the file declares the number of its rows: those without a box hold -1.
//   boxes   float32 [batches, n, 4]: y1, x1, y2, x2, corners in any order; center_point_box 1: x,
//   y,
//           width, height
//   scores  float32 [batches, classes, n]
//   max_output_boxes_per_class, iou_threshold, score_threshold   finite constants, default 0
// By batch and by class, from the highest score down, of equal ones from the first box on: a box is
// selected if its score is above score_threshold (where that is given; NaN never is), the class has
// fewer than the most boxes, and with no box selected before in this class
//   fl(shared / fl(fl(a + b) - shared)) > iou_threshold
// of the areas, each the rounded product of two lengths, each one rounded difference.
#pragma once

#include <cstdint>

#include "compiler/ir/tensor.h"

namespace etch {

struct NonMaxSuppression {
  std::int64_t batches = 1, classes = 1, boxes = 1;
  std::int64_t most = 0, rows = 0;
  bool is_centred = false;
  float overlap = 0;
  bool has_threshold = false;
  float threshold = 0;
  int filler = -1;  // the input with rows for those without a box; -1: they hold -1
};

}  // namespace etch
