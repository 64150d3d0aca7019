// A sum of products with constant weights as all kernel families see it: a convolution of views
// whose sizes, weights and requantization are known. Every operator that ends in one describes it
// so; providers.h has the families that compute it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/program/view.h"
#include "templates/kernels/conv/conv_plan.h"
#include "templates/kernels/quantize/requantize.h"

namespace etch {

// A tensor of y's shape that is added to the result; see AddResidual.
struct ConvResidual {
  View view;  // uint8; kArenaSlack bytes after it may be read
  AddResidual add;
};

// The reachable accumulators of one output channel (docs/spec/requantization.md section 3.4), exact
// int64.
struct AccumulatorRange {
  std::int64_t low = 0, high = 0;
};

// Weights that the step packs itself, from an operand: only the portable family's plan has such.
struct RunTimeWeights {
  ConvOperands operands;
  AccumulatorRange range;  // of every channel
};

// Activations are uint8 as stored; weights are already w - w_zero_point.
struct ConvProblem {
  ConvGeometry geometry;
  View x;  // [N, C, in...]
  View y;  // [N, M, out...], uint8 or int32
  // [M][tap][C / group], taps in kernel order (last axis fastest); each in [-255, 255].
  std::vector<int> weights;
  std::vector<std::int32_t> bias;       // [M], zeros when the operator has none
  int x_zero_point = 0;                 // as stored
  bool zero_point_at_run_time = false;  // biases are factors of it; what moves x is added with it
  bool four_bits = false;               // the file stores its weights in 4 bits each
  bool shares_weights = false;  // with a layer of another shape, which may want another form
  bool in_a_loop = false;       // of another step, which has no place for sums of pixels
  std::vector<float> scale;     // [M]; empty for int32 output
  Requantize out;               // kind is chosen here
  std::optional<ConvResidual> residual;
  std::optional<RunTimeWeights> run_time;  // then `weights` is empty
  int shared_addend = 0;  // of all weights, and not of what is packed (portable/shared_addend.h)

  std::int64_t taps() const;
  std::int64_t macs() const;
  int weight(std::int64_t m, std::int64_t tap, std::int64_t c) const {
    return weights[static_cast<std::size_t>((m * taps() + tap) * geometry.in_per_group() + c)];
  }
};

AccumulatorRange accumulator_range(const ConvProblem& problem, std::int64_t channel);

}  // namespace etch
