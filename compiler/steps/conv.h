// From a resolved convolution to a step: regions, packed weights, biases that contain all zero
// points, the proof that accumulators and requantization stay in range, and the tile shapes.
// Serves every operator that ends in a sum of products with constant weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ops/conv_geometry/geometry.h"
#include "compiler/schedule/tuning.h"
#include "compiler/steps/staged_step.h"
#include "compiler/steps/view.h"
#include "templates/kernels/conv.h"
#include "templates/kernels/depthwise.h"

namespace etch {

// A tensor of y's shape that is added to the result; see AddResidual.
struct ConvResidual {
  View view;  // uint8; kArenaSlack bytes behind it may be read
  AddResidual add;
};

// Activations are uint8 as stored; weights are already w - w_zero_point.
struct ConvProblem {
  ConvGeometry geometry;
  View x;  // [N, C, in...]
  View y;  // [N, M, out...], uint8 or int32
  // [M][tap][C / group], taps in kernel order (last axis fastest); each in [-255, 255].
  std::vector<int> weights;
  std::vector<std::int32_t> bias;  // [M], zeros when the operator has none
  int x_zero_point = 0;            // as stored
  std::vector<float> scale;        // [M]; empty for int32 output
  Requantize out;                  // kind is chosen here
  std::optional<ConvResidual> residual;

  std::int64_t taps() const;
  int weight(std::int64_t m, std::int64_t tap, std::int64_t c) const {
    return weights[static_cast<std::size_t>((m * taps() + tap) * geometry.in_per_group() + c)];
  }
};

class ConvStep : public StagedStep<ConvStep> {
 public:
  ConvPlan plan;
  std::string tuning_key;    // see tuning_key.h
  bool tuned = false;        // its tiles come from a tuning file
  bool unrolled = false;     // as the user asked for, and so may be longer than usual
  std::string tuning_fault;  // why the tuning file's choice cannot be had, or empty
  ConvStep() { divisible = true; }
  template <class S>
  void kernel(S& s) const {
    conv_kernel(s, plan);
  }
};

class DepthwiseStep : public StagedStep<DepthwiseStep> {
 public:
  DepthwisePlan plan;
  DepthwiseStep() { divisible = true; }
  template <class S>
  void kernel(S& s) const {
    depthwise_kernel(s, plan);
  }
};

// Operand 0 is x, then comes the residual if there is one, then y. Fills plan, constants, macs,
// facts and overlaps; the caller sets names. Depthwise convolutions get the row-quad kernel, all
// others, and those with a residual, the matrix kernel; its tiles are those of `tuning` if it names
// them.
std::unique_ptr<Step> make_conv_step(const ConvProblem& problem, const IsaTraits& isa,
                                     const Tuning& tuning);

// The reachable accumulators of one output channel (semantics 7.2), exact int64.
struct AccumulatorRange {
  std::int64_t low = 0, high = 0;
};
AccumulatorRange accumulator_range(const ConvProblem& problem, std::int64_t channel);

}  // namespace etch
