// The ends of the functions of dsp.h: accumulators in registers are scaled, rounded, offset,
// clamped and packed, all of a block together.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernels/conv/dsp/functions.h"
#include "compiler/kernels/conv/thumb.h"

namespace etch {

// Where assembly may use Thumb-2, by the compiler's macros: nothing of the DSP extension.
inline constexpr char kThumbCondition[] =
    "defined(__ARM_ARCH) && __ARM_ARCH >= 7 && defined(__thumb2__) && defined(__ARMEL__) && "
    "defined(__GNUC__)";
// Where it may use what the epilogue needs.
std::string dsp_condition(const DspEpilogue& out);
// "_i32", "_f32_ssat_zp_0_255_y64": what of it is in the text.
std::string dsp_suffix(const DspEpilogue& out);
// ", 3", ", 0, true": the last arguments of portable functions, where they are not the usual ones.
std::string weights_text(int moved, bool joint, bool nibbles);
// "_w3", "_joint", "_nibbles_wn8": all of what weights are.
std::string weights_suffix(int moved, bool joint, bool nibbles);
// "{rt::kDspFloat, 0, 255, 64}" for the portable functions.
std::string dsp_store_text(const DspEpilogue& out);
// "const int32_t* x", "const int32_t* stream", y, "int32_t zero_points" of a function.
void set_dsp_parameters(AssemblyFunction& function, const char* x_type, const DspEpilogue& out);

// Leaves in every second of the registers `acc` the sum of the second channel, where joint weights
// (joint.h) added to it those of both: times 256, or 16, where it becomes a float.
void write_second_sums(Thumb& thumb, const DspEpilogue& out, const std::vector<int>& acc,
                       bool nibbles);
// `to`: of weights of 4 bits that `both` has, widened, those of the first channel.
void write_first_nibbles(Thumb& thumb, const std::string& to, const std::string& both);
// What the sum of x is multiplied by where it is added to the sum of both channels.
int moved_of_both(int moved);

// Turns accumulators in registers `acc`, for pixel after pixel `channels` (2 or 4) of them, into
// rounded results in the same registers. Reads the factors at r1 and moves it on. Changes r2, r3,
// r12, lr and s0 to s15. Nothing for kInt32.
void write_rounding(Thumb& thumb, const DspEpilogue& out, const std::vector<int>& acc,
                    int channels);

// 16-bit results of two channels in `low` and `high` become clamped bytes in the halves of `low`.
// `zero_points` is a register that holds them; `spare` and `high` are changed.
void write_pair(Thumb& thumb, const DspEpilogue& out, int low, int high, int zero_points,
                int spare);

// The byte in register `acc` becomes its sum with the byte at r0 + `at`, within int16 and not
// clamped. Factors are in r2 and r3, the offset is in two words of the stack at `offset`, or, of
// sums in int32, in r12. Changes r12 (of other sums) and lr.
void write_sum(Thumb& thumb, const DspResidual& residual, int acc, std::int64_t at, int offset);
// "0", "_n22", "_e2": what of it is in a function's name.
std::string sum_suffix(const DspResidual& residual);
// "64, 0, 255, 22, rt::kNarrowSum" for the portable functions.
std::string residual_text(const DspResidual& residual);

}  // namespace etch
