// Resize (ai.onnx, since 10) and Upsample (since 7): the tensor at another resolution.
//   scales   float32 per axis: the attribute of Upsample 7, constant input 1 of Upsample 9 and
//            Resize 10, input 2 from Resize 11 on (where an empty one counts as omitted)
//   sizes    int64 per axis, constant input 3 (opset 11), instead of scales
//   axes     (opset 18) the axes that scales, sizes and roi are about; default: all
//   keep_aspect_ratio_policy  (opset 18) with sizes: stretch; not_larger and not_smaller take the
//            least or greatest of the ratios for all axes
//   roi      constant input 1 (opset 11), only with tf_crop_and_resize
// Output size: floor(in * scale) in float32. Position x of the output is at position p of the
// input, in float32 with scale s: asymmetric x / s, half_pixel (x + 0.5) / s - 0.5,
// pytorch_half_pixel the same but 0 for one output, half_pixel_symmetric the same around the centre
// (summed in float64), align_corners x * (in - 1) / (out - 1), tf_half_pixel_for_nn (x + 0.5) / s,
// tf_crop_and_resize within roi, where positions outside of the input give extrapolation_value. An
// axis of scale 1 is copied, and so is everything when no size changes.
//   nearest  p rounded as nearest_mode says, limited to the input. Resize 10 and Upsample: down
//            for s >= 1, up for s < 1
//   linear   between the neighbours on two axes of rank 2 and 4 (the inner ones, or the middle ones
//            when the outermost and the innermost keep their size) or three of rank 3 and 5. As
//            ONNX Runtime computes it: all 4 or 8 corners, innermost axis fastest, weights from
//            distances to both neighbours (0.5 each where they coincide). float32: products and
//            sums rounded one by one. 8 bits: the same, truncated; but with channels last
//            positions in steps of 1/1024 and integer sums, truncated.
//   cubic    float32; over the two inner axes of rank 2, or of rank 4 where the others keep their
//            size: four neighbours along each, limited to the input, weighed by cubic_coeff_a
//            (default -0.75); exclude_outside = 1 leaves those outside out and weighs the rest up.
//            As ONNX Runtime computes it: rows first, products and sums rounded one by one; of
//            those that count, along rows fl(fl(weight / total) x), across them fl(fl(x weight) /
//            total)
//   antialias  (opset 18) 1: linear and cubic mode along any axes, where each output is the mean of
//            all inputs under a filter that is as wide as the ratio of sizes, of float32 or uint8;
//            docs/spec/float.md section 9.6. int8 is refused: ONNX Runtime gives 0 for all below 0
#pragma once

#include "compiler/ir/geometry/resize.h"
