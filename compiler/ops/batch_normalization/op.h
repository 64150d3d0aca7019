// BatchNormalization (ai.onnx, since 7) as inference uses it, on float32.
//
//   X [N, C, ...] or [N]; scale, B, input_mean, input_var [C] (one channel where X is [N]).
//   epsilon        default 1e-5
//   momentum       without effect;  training_mode (since 14): written as other operators by
//                  passes/compositions/normalization.cc; outputs besides Y: refused
//   spatial        (before 9) 1; statistics per element are refused
//
// factor[c] = fl(fl(1 / fl(sqrt(fl(var + epsilon)))) * scale), offset[c] = fl(B - fl(mean *
// factor)), y = fl(fl(x * factor[c]) + offset[c]): the steps that ONNX Runtime takes too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/tensor.h"

namespace etch {

struct BatchNormalization {
  Shape shape;                // of X
  std::int64_t channels = 1;  // C
  std::int64_t inner = 1;     // elements of one channel of one image
  float epsilon = 1e-5F;      // finite
};

struct Affine {
  std::vector<float> factor, offset;  // per channel
};
// `inputs` as the node has them; X is not looked at.
Affine batch_affine(const BatchNormalization& params, std::span<const Tensor* const> inputs);

}  // namespace etch
