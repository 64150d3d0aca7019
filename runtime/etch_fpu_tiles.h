// How the FPU of Cortex-M and of 32-bit Arm, which has 32 registers and no vectors of exact floats,
// adds products to a tile of four pixels of four columns, or one of eight: all channels in one loop
// of assembly, the sums in s0 to s15 meanwhile. Compilers load each number by itself. Sums and
// their order are those of add_scaled() in etch_float_tiles.h. C++17, freestanding, no heap, no
// state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_checked_floats.h"
#include "etch_float_tiles.h"

namespace etch {
namespace rt {

// Whether a tile has such a loop.
template <class Steps, int lanes, int count, int pixels>
constexpr bool kHasFpuTile = false;

// What sums are multiplied with: rows of weights `width` apart, and x, whose channels are
// `x_channel` apart.
struct FpuOperands {
  const float* x;
  ptrdiff_t x_pixel, x_channel;
  const float* w;
  ptrdiff_t width;
};

}  // namespace rt
}  // namespace etch

#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 4) != 0 && \
    !defined(ETCH_CHECKED_FLOATS)
#define ETCH_FPU_TILES 1

namespace etch {
namespace rt {

template <>
constexpr bool kHasFpuTile<Separate, 1, 4, 4> = true;
template <>
constexpr bool kHasFpuTile<Separate, 1, 8, 1> = true;

// Four sums plus a weight each times x.
#define ETCH_STEP(op, to, a, b) #op ".f32 " #to ", " #a ", " #b "\n\t"
#define ETCH_FOUR_STEPS(a, b, c, d, x, s, t, u, v) \
  ETCH_STEP(vmul, s28, a, x)                       \
  ETCH_STEP(vmul, s29, b, x)                       \
  ETCH_STEP(vmul, s30, c, x)                       \
  ETCH_STEP(vmul, s31, d, x)                       \
  ETCH_STEP(vadd, s, s, s28)                       \
  ETCH_STEP(vadd, t, t, s29) ETCH_STEP(vadd, u, u, s30) ETCH_STEP(vadd, v, v, s31)
// Two channels of a pixel, or one, whose place in x moves on.
#define ETCH_TWO_CHANNELS(x, s, t, u, v)                                               \
  "vldmia " #x "!, {s24-s25}\n\t" ETCH_FOUR_STEPS(s16, s17, s18, s19, s24, s, t, u, v) \
      ETCH_FOUR_STEPS(s20, s21, s22, s23, s25, s, t, u, v)
#define ETCH_ONE_CHANNEL(x, s, t, u, v)   \
  "vldr s24, [" #x "]\n\tadd " #x ", " #x \
  ", lr\n\t" ETCH_FOUR_STEPS(s16, s17, s18, s19, s24, s, t, u, v)

// What the loop over four pixels loads into r0 to r5, r12 and lr, in this order, and then one by
// one: operands of their own would be more registers than position-independent code has.
struct FourPixels {
  const float* x[4];
  const float* w;
  ptrdiff_t width;  // in bytes, as `step`
  int32_t pairs;    // of channels that are side by side
  ptrdiff_t step;
  int32_t rest;
  const float* from;  // what sums start at
  float* sums;
};

// What the sums of a tile start at.
static constexpr float kNoSums[16] = {};

// sums[4 * pixel + column]: two channels at a time where they are side by side. A function of its
// own, which alone saves registers of the FPU.
ETCH_OWN_REGISTERS static void add_to_fours(const FourPixels& four) {
  __asm__ volatile(
      "ldr r0, [%[four], #36]\n\t"
      "vldmia r0, {s0-s15}\n\t"
      "ldm %[four], {r0-r5, r12, lr}\n\t"
      "cmp r12, #0\n\t"
      "beq 2f\n"
      "1:\n\t"
      "vldmia r4, {s16-s19}\n\t"
      "add r4, r4, r5\n\t"
      "vldmia r4, {s20-s23}\n\t"
      "add r4, r4, r5\n\t"
      ETCH_TWO_CHANNELS(r0, s0, s1, s2, s3)
      ETCH_TWO_CHANNELS(r1, s4, s5, s6, s7)
      ETCH_TWO_CHANNELS(r2, s8, s9, s10, s11)
      ETCH_TWO_CHANNELS(r3, s12, s13, s14, s15)
      "subs r12, r12, #1\n\t"
      "bne 1b\n"
      "2:\n\t"
      "ldr r12, [%[four], #32]\n\t"
      "cmp r12, #0\n\t"
      "beq 4f\n"
      "3:\n\t"
      "vldmia r4, {s16-s19}\n\t"
      "add r4, r4, r5\n\t"
      ETCH_ONE_CHANNEL(r0, s0, s1, s2, s3)
      ETCH_ONE_CHANNEL(r1, s4, s5, s6, s7)
      ETCH_ONE_CHANNEL(r2, s8, s9, s10, s11)
      ETCH_ONE_CHANNEL(r3, s12, s13, s14, s15)
      "subs r12, r12, #1\n\t"
      "bne 3b\n"
      "4:\n\t"
      "ldr r0, [%[four], #40]\n\t"
      "vstmia r0, {s0-s15}"
      :
      : [four] "r"(&four)
      : "cc", "memory", "r0", "r1", "r2", "r3", "r4", "r5", "r12", "lr", "s0", "s1", "s2", "s3",
        "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17",
        "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s28", "s29", "s30", "s31");
}

// The sums of four pixels: `from` plus `channels` products each.
ETCH_INLINE void add_to_fours(float* sums, const float* from, const FpuOperands& p,
                              int32_t channels) {
  constexpr ptrdiff_t kSize = sizeof(float);
  const int32_t pairs = p.x_channel == 1 ? channels >> 1 : 0;
  add_to_fours(FourPixels{{p.x, p.x + p.x_pixel, p.x + 2 * p.x_pixel, p.x + 3 * p.x_pixel},
                          p.w,
                          p.width * kSize,
                          pairs,
                          p.x_channel * kSize,
                          channels - 2 * pairs,
                          from,
                          sums});
}

// One channel of eight columns.
#define ETCH_EIGHT_COLUMNS(x)                                              \
  "vldmia %[w], {s8-s15}\n\tadd %[w], %[w], %[width]\n\t" ETCH_FOUR_STEPS( \
      s8, s9, s10, s11, x, s0, s1, s2, s3) ETCH_FOUR_STEPS(s12, s13, s14, s15, x, s4, s5, s6, s7)

// Eight sums of one pixel: four channels at a time where they are side by side.
ETCH_OWN_REGISTERS static void add_to_eight(float* sums, const float* from, const FpuOperands& p,
                                            int32_t channels) {
  const float *x = p.x, *w = p.w;
  int32_t fours = p.x_channel == 1 ? channels >> 2 : 0;
  int32_t rest = channels - 4 * fours;
  constexpr ptrdiff_t kSize = sizeof(float);
  __asm__ volatile(
      "vldmia %[from], {s0-s7}\n\t"
      "cmp %[fours], #0\n\t"
      "beq 2f\n"
      "1:\n\t"
      "vldmia %[x]!, {s16-s19}\n\t"
      ETCH_EIGHT_COLUMNS(s16)
      ETCH_EIGHT_COLUMNS(s17)
      ETCH_EIGHT_COLUMNS(s18)
      ETCH_EIGHT_COLUMNS(s19)
      "subs %[fours], %[fours], #1\n\t"
      "bne 1b\n"
      "2:\n\t"
      "cmp %[rest], #0\n\t"
      "beq 4f\n"
      "3:\n\t"
      "vldr s16, [%[x]]\n\t"
      "add %[x], %[x], %[step]\n\t"
      ETCH_EIGHT_COLUMNS(s16)
      "subs %[rest], %[rest], #1\n\t"
      "bne 3b\n"
      "4:\n\t"
      "vstmia %[sums], {s0-s7}"
      : [x] "+&r"(x), [w] "+&r"(w), [fours] "+&r"(fours), [rest] "+&r"(rest)
      : [sums] "r"(sums), [from] "r"(from), [width] "r"(p.width * kSize),
        [step] "r"(p.x_channel * kSize)
      : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
        "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s28", "s29", "s30", "s31");
}

// y = sums + added, four columns of `pixels` rows, at least one; steps in elements.
ETCH_INLINE void store_fours(const float* sums, int32_t pixels, ptrdiff_t columns,
                             const float* added, float* y, ptrdiff_t y_pixel) {
  constexpr ptrdiff_t kSize = sizeof(float);
  __asm__ volatile(
      "vldmia %[added], {s4-s7}\n"
      "1:\n\t"
      "vldmia %[sums], {s0-s3}\n\t"
      "add %[sums], %[sums], %[columns]\n\t"
      ETCH_STEP(vadd, s0, s0, s4)
      ETCH_STEP(vadd, s1, s1, s5)
      ETCH_STEP(vadd, s2, s2, s6)
      ETCH_STEP(vadd, s3, s3, s7)
      "vstmia %[y], {s0-s3}\n\t"
      "add %[y], %[y], %[y_pixel]\n\t"
      "subs %[pixels], %[pixels], #1\n\t"
      "bne 1b"
      : [sums] "+&r"(sums), [y] "+&r"(y), [pixels] "+&r"(pixels)
      : [added] "r"(added), [columns] "r"(columns * kSize), [y_pixel] "r"(y_pixel * kSize)
      : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7");
}

// y = sums + c of `pixels` rows of `columns` sums, four columns at a time; c's step is 0 or 1.
ETCH_INLINE void finish_fours(const float* sums, int32_t pixels, int32_t columns, const float* c,
                              ptrdiff_t c_column, float* y, ptrdiff_t y_pixel) {
  for (int32_t j = 0; j < columns; j += 4, c += 4 * c_column) {
    const float one = *c, same[4] = {one, one, one, one};
    store_fours(sums + j, pixels, columns, c_column == 0 ? same : c, y + j, y_pixel);
  }
}

// The usual end of a tile. Not in line, for small code.
ETCH_OWN_REGISTERS static void finish_fours(const float* sums, int32_t pixels, int32_t columns,
                                            const FloatEnd& end, const float* c, float* y,
                                            ptrdiff_t y_pixel) {
  if (end.relu == 0) return finish_fours(sums, pixels, columns, c, end.c_column, y, y_pixel);
  for (int32_t j = 0; j < columns; j += 4) {
    Columns<1, 4> added;
    load_columns(added, c + j * end.c_column, end.c_column);
    const float* row = sums + j;
    float* to = y + j;
    for (int32_t p = 0; p < pixels; ++p, row += columns, to += y_pixel) {
      Columns<1, 4> all;
      load_columns(all, row, 1);
      finish_plain(all, added, to, [&end](const Floats<1>& x) { return limited(x, end); });
    }
  }
}

#undef ETCH_EIGHT_COLUMNS
#undef ETCH_ONE_CHANNEL
#undef ETCH_TWO_CHANNELS
#undef ETCH_FOUR_STEPS
#undef ETCH_STEP

}  // namespace rt
}  // namespace etch
#endif
