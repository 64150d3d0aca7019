// Weights of float products as the tiles read them: columns (output channels of a group) in panels
// of kPanel or kNarrowPanel, the last one narrower; in a panel, row (position * in + channel) holds
// the weights of its columns side by side. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_float.h"
#include "etch_transpose.h"

namespace etch {
namespace rt {

constexpr int32_t kPanel = 64;
// For products of a matrix on AVX: the four vectors of a tile, so that what it reads follows each
// other in memory.
constexpr int32_t kNarrowPanel = 32;

// Where weights are before they are packed: element (group, kernel position, input channel, column)
// is w[group * group_step + ...]. Panels of `panel` columns; one panel serves float_depthwise().
struct PackShape {
  int32_t group, taps, in, out, panel;
  ptrdiff_t group_step, tap_step, in_step, out_step;
};

// One panel of columns that are contiguous where they come from.
static inline void pack_transposed(const PackShape& s, const float* from, int32_t width,
                                   float* packed) {
  constexpr ptrdiff_t kSize = sizeof(float);
  transpose_words(reinterpret_cast<const uint8_t*>(from), kSize * s.out_step,
                  reinterpret_cast<uint8_t*>(packed), kSize * width, width, s.in);
}

static inline void copy_columns(const float* from, int32_t width, float* to) {
#if defined(__AVX__)
  // Four vectors; a function that copies any number of bytes takes half as long again.
  if (width == kNarrowPanel) {
    ETCH_MEMCPY(to, from, sizeof(float) * kNarrowPanel);
    return;
  }
#endif
  ETCH_MEMCPY(to, from, sizeof(float) * static_cast<size_t>(width));
}

// Packs the weights of one group into panels and returns the place after them.
static inline float* pack_group(const PackShape& s, const float* w, float* packed) {
  for (int32_t first = 0; first < s.out; first += s.panel) {
    const int32_t width = s.out - first < s.panel ? s.out - first : s.panel;
    for (int32_t tap = 0; tap < s.taps; ++tap) {
      const float* const from = w + tap * s.tap_step + first * s.out_step;
      if (s.in_step == 1 && s.out_step != 1) {
        pack_transposed(s, from, width, packed);
        packed += static_cast<ptrdiff_t>(s.in) * width;
        continue;
      }
      for (int32_t c = 0; c < s.in; ++c) {
        const float* const row = from + c * s.in_step;
        if (s.out_step == 1) {
          copy_columns(row, width, packed);
        } else {
          for (int32_t j = 0; j < width; ++j) packed[j] = row[j * s.out_step];
        }
        packed += width;
      }
    }
  }
  return packed;
}

static inline void pack_panels(const PackShape& s, const float* w, float* packed) {
  for (int32_t g = 0; g < s.group; ++g) packed = pack_group(s, w + g * s.group_step, packed);
}

}  // namespace rt
}  // namespace etch
