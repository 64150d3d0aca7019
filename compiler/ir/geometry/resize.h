// A Resize as explicit numbers: the place in the input of every output position along each axis,
// and which neighbours it is made from. compiler/ops/resize/op.h has the rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/tensor.h"

namespace etch {

struct ResizeAxis {
  std::int64_t in = 1, out = 1;
  float scale = 1;
  std::vector<float> position;  // per output position; empty: the axis is copied
};

struct Resize {
  enum class Mode { kCopy, kNearest, kLinear, kCubic };
  enum class Round { kPreferFloor, kPreferCeil, kFloor, kCeil, kSimple };
  enum class Arithmetic { kFloat, kFixedPoint };
  Mode mode = Mode::kNearest;
  Round round = Round::kPreferFloor;
  Arithmetic arithmetic = Arithmetic::kFloat;
  float cubic_a = -0.75F;
  bool exclude_outside = false;  // of kCubic and antialias
  bool antialias = false;        // kLinear and kCubic by wide filters, see antialias.h
  bool extrapolate = false;
  Tensor value;                     // extrapolation_value as an element
  std::vector<ResizeAxis> axes;     // one per axis
  std::vector<std::size_t> linear;  // the axes of linear and cubic mode, outermost first; two or
                                    // three, or with antialias all that change
  Shape shape;                      // of the output
};

// Where output position `at` of an axis is in the input, and whether that is extrapolated.
float position_of(const ResizeAxis& axis, std::int64_t at);
bool is_outside(const Resize& params, const ResizeAxis& axis, float position);

// The neighbours of an output position and how much each counts.
struct LinearSample {
  bool outside = false;  // extrapolated; the rest has no meaning
  std::int64_t low = 0, high = 0;
  float low_weight = 0, high_weight = 0;
  std::int32_t low_parts = 0, high_parts = 0;  // of 1024: fixed point
};
LinearSample linear_sample(const Resize& params, std::size_t axis, std::int64_t at);

// The same in cubic mode.
struct CubicSample {
  bool outside = false;
  std::array<std::int64_t, 4> at{};
  std::array<float, 4> weight{};
  float total = 1;  // what the weights are parts of
};
CubicSample cubic_sample(const Resize& params, std::size_t axis, std::int64_t at);

// The input's position for an output position, or -1 when it is extrapolated.
std::int64_t nearest_sample(const Resize& params, std::size_t axis, std::int64_t at);

}  // namespace etch
