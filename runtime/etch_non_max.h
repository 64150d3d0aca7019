// The boxes that no better box overlaps too much (NonMaxSuppression), as ONNX Runtime selects them.
// C++17, freestanding, no heap, no state; no function adds to a product.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_elementwise.h"

namespace etch {
namespace rt {

struct NonMax {
  int32_t batches, classes, boxes;
  int32_t most;        // boxes per class
  int32_t rows;        // of the output
  int32_t is_centred;  // boxes are centre and size, not two corners
  float overlap;       // more than this is too much
  int32_t has_threshold;
  float threshold;  // of the score
};

struct Span1 {
  float low, high;
};

// Along the axis of which `a` and `b` are the corners, or the centre and the size.
static inline Span1 span_of_box(float a, float b, int32_t is_centred) {
  if (is_centred != 0) {
    const float half = opaque(b * 0.5f);
    return {a - half, a + half};
  }
  return a < b ? Span1{a, b} : Span1{b, a};
}

static inline float length_of(const Span1& s) { return s.high - s.low; }

static inline Span1 common(const Span1& a, const Span1& b) {
  return {a.low < b.low ? b.low : a.low, a.high < b.high ? a.high : b.high};
}

// Whether boxes of four floats share more than the threshold of what they cover together.
static inline bool overlap(const NonMax& p, const float* a, const float* b) {
  const Span1 a0 = span_of_box(a[0], a[2], p.is_centred),
              a1 = span_of_box(a[1], a[3], p.is_centred);
  const Span1 b0 = span_of_box(b[0], b[2], p.is_centred),
              b1 = span_of_box(b[1], b[3], p.is_centred);
  const Span1 both0 = common(a0, b0), both1 = common(a1, b1);
  if (!(both0.high > both0.low) || !(both1.high > both1.low)) return false;
  const float shared = opaque(length_of(both0) * length_of(both1));
  const float area_a = opaque(length_of(a0) * length_of(a1));
  const float area_b = opaque(length_of(b0) * length_of(b1));
  const float covered = area_a + area_b - shared;
  if (!(shared > 0.0f && area_a > 0.0f && area_b > 0.0f && covered > 0.0f)) return false;
  return shared / covered > p.overlap;
}

// Whether box i goes before box j: by score, then by number.
static inline bool box_before(const float* scores, int32_t i, int32_t j) {
  return scores[i] > scores[j] || (!(scores[i] < scores[j]) && i < j);
}

// Puts `box` into the heap of n at `place`, which is free, or below it; the best is at the root.
static inline void settle_box(const float* scores, int32_t* heap, int32_t n, int32_t place,
                              int32_t box) {
  for (int32_t child = 2 * place + 1; child < n; child = 2 * place + 1) {
    if (child + 1 < n && box_before(scores, heap[child + 1], heap[child])) ++child;
    if (!box_before(scores, heap[child], box)) break;
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = box;
}

// The heap of the boxes whose scores count; gives their number. No score that is NaN counts.
static inline int32_t heap_of_boxes(const NonMax& p, const float* scores, int32_t* heap) {
  int32_t n = 0;
  for (int32_t i = 0; i < p.boxes; ++i) {
    const bool counts = p.has_threshold != 0 ? scores[i] > p.threshold : !is_nan(scores[i]);
    if (counts) heap[n++] = i;
  }
  for (int32_t i = n / 2; i-- > 0;) settle_box(scores, heap, n, i, heap[i]);
  return n;
}

// y: `rows` rows of batch, class and box; those selected, by batch, by class and from the best
// score, and after them the rows of `filler` from its first on. `heap` has room for all boxes.
static inline void non_max_suppression(const float* boxes, const float* scores,
                                       const int64_t* filler, int32_t* heap, int64_t* y,
                                       int batches, int classes, int count, int most, int rows,
                                       int is_centred, float limit, int has_threshold,
                                       float threshold) {
  const NonMax p{batches, classes, count, most, rows, is_centred, limit, has_threshold, threshold};
  int32_t row = 0;
  for (int32_t batch = 0; batch < p.batches; ++batch, boxes += ptrdiff_t{4} * p.boxes) {
    for (int32_t group = 0; group < p.classes; ++group, scores += p.boxes) {
      const int32_t first = row;
      int32_t left = heap_of_boxes(p, scores, heap);
      while (left > 0 && row < p.rows && row - first < p.most) {
        const int32_t best = heap[0];
        --left;
        settle_box(scores, heap, left, 0, heap[left]);
        bool stays = true;
        for (int32_t k = first; stays && k < row; ++k)
          stays = !overlap(p, boxes + 4 * best, boxes + 4 * y[3 * k + 2]);
        if (!stays) continue;
        y[3 * row] = batch;
        y[3 * row + 1] = group;
        y[3 * row + 2] = best;
        ++row;
      }
    }
  }
  for (int32_t k = 0; row < p.rows; ++row, ++k) {
    for (int32_t c = 0; c < 3; ++c) y[3 * row + c] = filler[3 * k + c];
  }
}

}  // namespace rt
}  // namespace etch
