// The facts about an instruction set that kernels and the scheduler plan with. No intrinsics
// here: these are plain numbers, filled in by templates/isa/<isa>/traits.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace etch {

// How a vector of weights for one dot4 step is laid out in memory.
enum class WeightForm {
  kS8x4,        // lane after lane, 4 signed bytes each
  kS16EvenOdd,  // bytes 0 and 2 of every lane as int16 pairs, then bytes 1 and 3
};

// Functions in assembly that do the work of convolutions (compiler/kernels/conv: dsp, winograd,
// helium).
enum class Assembly {
  kNone,
  kLow,  // one product at a time, in r0 to r7: Cortex-M0
  kMla,  // one product at a time: Cortex-M3
  kDsp,  // SMLAD and its kind: Cortex-M4, M7, M33
  kMve,  // Helium: Cortex-M55
};

// What code is to be good at. Results are the same; sizes and times are not.
enum class Objective {
  kBalanced,  // fast, within the sizes that measurements of docs/unrolling.md speak for
  kSpeed,     // as fast as possible, whatever the code's size
  kSize,      // the least flash: loops instead of what they repeat
  kRam,       // the least arena, even if something has to be computed twice
};

struct IsaTraits {
  std::string_view name;             // --target; with '_' for '-' also the folder
  std::string_view title;            // for people: "x86-64 with AVX-512 VNNI"
  std::string_view vocabulary = {};  // the folder whose vocab.h it takes; empty: its own
  int lanes = 1;                     // int32 lanes of a vector; a byte vector has 4 * lanes bytes
  int accumulators = 8;              // the most accumulators a tile may hold
  WeightForm weight_form = WeightForm::kS8x4;
  bool broadcast_is_load = false;  // broadcast4 takes no slot of the multiply units
  bool lane_products = false;      // dot4_lane is one instruction, or nearly
  bool square_products = false;    // so is dot_squares
  // load_moved_w4 takes bytes 0 and 1 of every lane, then 2 and 3; products of bytes 0 and 2, and
  // of 1 and 3, are added in 16 bits, so not both may be -128: fits_in_pairs().
  bool weights_in_pairs = false;
  // dot_sums16 takes fewer instructions than dot4, and half the memory for weights.
  bool sums16 = false;
  // runtime/etch_sum.h has vectors for sums of bytes that are lines in integers, and those are
  // faster than floats.
  bool sum_lines = false;
  // Weights of kS16EvenOdd are in memory as bytes where few pixels share them and they are many:
  // load_byte_w4 costs less than twice the memory.
  bool widens_weights = false;
  int vectors[4] = {4, 2, 1, 0};  // vectors per channel block that kernels may use, best first
  // Bytes to which memory that kernels load from is aligned: what loads of vectors need; on x86 the
  // cache line, which no load should cross. Constants start there, the arena's rule comes from it.
  int alignment = 64;
  // What dot4_moved and dot4_lane take from every byte of x: 128 where products are of signed
  // bytes.
  std::int16_t moved = 0;
  double multiply_cycles = 1;        // one dot4 of one vector, in cycles, throughput
  double sums16_cycles = 1;          // one dot_sums16
  double broadcast_cycles = 1;       // one broadcast4
  double epilogue_cycles = 17;       // requantizing and storing 4 vectors
  bool fpu = true;                   // else floats are library calls: exact, but slow
  bool float_requantization = true;  // has an FPU; a user may still ask for integers
  bool whole_lanes = false;          // "in-lane order" is v0, v1, v2, v3 (see run_in_lane())
  // Macros that compilers define for CPUs with what the target is for: its instructions, and an
  // FPU. Elsewhere the code would give the same results many times slower, so it refuses to be
  // compiled; the second is asked for by networks with floats only. Empty: nothing is asked.
  std::string_view core_macro = {};   // "__ARM_FEATURE_DSP"
  std::string_view float_macro = {};  // "__ARM_FP"
  bool loads_too_far_ahead = false;   // gcc's first scheduling pass spills sums
  bool vectorized = true;             // false: plain C++, which a compiler may vectorize itself
  bool calls_lose_vectors = false;    // no register of vectors keeps its value across a call
  bool fused_steps = false;           // a * b + c of floats, rounded once, is an instruction
  Objective objective = Objective::kBalanced;  // set per compilation, not by a target

  bool starts_two = false;  // a load starts together with a multiplication: tiles of kDsp alternate
  Assembly assembly = Assembly::kNone;  // copies padded rows, kMve of depthwise ones: no halo

  // The folder and namespace of its verbs.
  constexpr std::string_view verbs() const { return vocabulary.empty() ? name : vocabulary; }
  constexpr int byte_lanes() const { return 4 * lanes; }
  // Neighbouring bytes of one vector in "in-lane order" (templates/verbs.def).
  constexpr int run_in_lane() const { return whole_lanes || lanes < 4 ? lanes : 4; }
  constexpr int weight_bytes() const {
    return weight_form == WeightForm::kS8x4 ? 4 * lanes : 8 * lanes;
  }
};

// Whether four weights of a lane may be multiplied by moved bytes.
constexpr bool fits_in_pairs(const IsaTraits& isa, int w0, int w1, int w2, int w3) {
  const bool wraps = (w0 == -128 && w2 == -128) || (w1 == -128 && w3 == -128);
  return !isa.weights_in_pairs || !wraps;
}

// Whether products of two neighbouring weights with any two bytes add up to an int16.
constexpr bool fits_sums16(int w0, int w1) {
  constexpr int kMost = 32767 / 255;  // of weights of one sign
  const int positive = (w0 > 0 ? w0 : 0) + (w1 > 0 ? w1 : 0);
  const int negative = (w0 < 0 ? w0 : 0) + (w1 < 0 ? w1 : 0);
  return positive <= kMost && negative >= -kMost;
}

// Output channel, within a block of `vectors` vectors, that lane `lane` of vector `v` computes.
// Chosen so that the in-lane packs of narrow4() leave the bytes of a pixel in channel order.
constexpr int channel_of(const IsaTraits& isa, int vectors, int v, int lane) {
  const int run = isa.run_in_lane();
  return lane / run * run * vectors + run * v + lane % run;
}

}  // namespace etch
