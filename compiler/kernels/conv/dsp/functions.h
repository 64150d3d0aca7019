// The functions in assembly for Cortex-M cores with SIMD on halfwords: one generator per function
// of runtime/etch_dsp.h, which says what each computes and which packed weights it reads. Sizes and
// steps are immediates; steps of equal geometry share a function by its name.
//
// How they use the core: int8 weights are widened in registers (SXTB16 gives the same two elements
// of K for one channel, rotated by 8 for the next; of joint weights one widening is enough), uint8
// activations once per tile; eight
// accumulators, two activations, two weights and two pointers take all 14 registers, what is needed
// once per block waits on the stack. Compilers spill accumulators in such loops.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/program/step.h"
#include "runtime/etch_dsp.h"

namespace etch {

// What becomes of accumulators; see DspStore and DspResult in runtime/etch_dsp.h.
struct DspEpilogue {
  enum class Result { kInt32, kFloat, kHigh };
  Result result = Result::kInt32;
  bool narrow = false;      // rounded results are proved to stay within +-32,000
  bool zero_point = true;   // false: it is 0
  int low = 0, high = 255;  // as stored
  std::int64_t y_step = 0;  // elements of y from pixel to pixel
};

// A residual that a tile adds to its clamped bytes, along a SumLine (runtime/etch_dsp.h).
using DspResidual = rt::DspResidual;

struct DspGather {
  int pixels = 4;
  std::int64_t x_step = 0;  // bytes from pixel to pixel
  int words = 1;            // of a run
  int runs = 1;
  std::int64_t run_step = 0;  // bytes
  bool compact = false;       // little code: loops of little each
};

struct DspTile {
  int pixels = 4;
  int pairs = 2;  // of elements of K; even
  int channels = 2;
  DspEpilogue out;  // with a residual: kFloat or kHigh, and the limits 0 and 255
  std::optional<DspResidual> residual = {};
  int moved = 0;            // weights minus those of the stream
  bool starts_two = false;  // loads alternate with multiplications
  bool joint = false;       // weights of two channels in a halfword; see joint.h
  bool compact = false;     // little code
  bool nibbles = false;     // joint, and of 4 bits
};

struct DspRow {
  int groups = 1;  // of 4 elements of K
  int channels = 4;
  DspEpilogue out;
  int moved = 0;         // weights minus those of the stream
  bool joint = false;    // weights of two channels in a halfword; see joint.h
  bool compact = false;  // little code
  bool bytes = false;    // of x, which are widened for every four channels
  bool nibbles = false;  // joint, and of 4 bits
};

inline constexpr std::int64_t kMostDepthwiseStep = 4095;  // that an offset in a load reaches
struct DspDepthwise {
  int pixels = 2;  // 1 or 2, of which the second is no more than that away
  std::int64_t x_step = 0;
  int rows = 3, cols = 3;  // taps
  std::int64_t row_step = 0, col_step = 0;
  int channels = 4;  // a multiple of 4
  DspEpilogue out;
  bool compact = false;  // little code: one pixel, taps in loops
  bool bytes = false;    // of weights, not halfwords; only where compact
};

// (const uint8_t* x, uint8_t* y): `bytes` bytes from x to y; `aligned`: both to 4 bytes.
struct DspCopy {
  std::int64_t bytes = 0;
  bool aligned = false;
};

AssemblyFunction dsp_gather(const DspGather& gather);  // (const uint8_t* x, int32_t* out)
// (const int32_t* x, const int32_t* stream, y, int32_t zero_points), and of a tile with a residual
// besides (const uint8_t* residual, const int32_t* line); x of a row may be const uint8_t*.
AssemblyFunction dsp_tile(const DspTile& tile);
AssemblyFunction dsp_row(const DspRow& row);
AssemblyFunction dsp_depthwise(const DspDepthwise& tile);
AssemblyFunction dsp_copy(const DspCopy& copy);

}  // namespace etch
