// Rows with more than one step per element: factor and offset per channel, and PRelu. Compilers may
// not fuse what is a product and a sum here, see etch_vector.h. C++17, freestanding, no heap, no
// state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_convert.h"
#include "etch_elementwise.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// y[i] = fl(fl(x[i] * factor[..]) + offset[..]); nothing to add is -0.
static inline void affine(const float* x, ptrdiff_t x_step, const float* factor,
                          ptrdiff_t factor_step, const float* offset, ptrdiff_t offset_step,
                          float* y, ptrdiff_t n) {
  const bool dense = x_step == 1 && (factor_step == 0 || factor_step == 1) &&
                     (offset_step == 0 || offset_step == 1);
  const ptrdiff_t whole = dense ? n - n % kFloatLanes : 0;
  for (ptrdiff_t i = 0; i < whole; i += kFloatLanes) {
    const Floats<kFloatLanes> f =
        load_or_repeat<kFloatLanes>(factor + i * factor_step, factor_step);
    const Floats<kFloatLanes> o =
        load_or_repeat<kFloatLanes>(offset + i * offset_step, offset_step);
    store(y + i, sum(product(load<kFloatLanes>(x + i), f), o));
  }
  for (ptrdiff_t i = whole; i < n; ++i)
    y[i] = opaque(x[i * x_step] * factor[i * factor_step]) + offset[i * offset_step];
}

// The same for sums of integer products.
static inline void affine(const int32_t* x, ptrdiff_t x_step, const float* factor,
                          ptrdiff_t factor_step, const float* offset, ptrdiff_t offset_step,
                          float* y, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const float value = static_cast<float>(x[i * x_step]);
    y[i] = opaque(value * factor[i * factor_step]) + offset[i * offset_step];
  }
}

// y[i] = x[i] where it is not negative, else fl(slope[..] * x[i]).
static inline void prelu(const float* x, ptrdiff_t x_step, const float* slope, ptrdiff_t slope_step,
                         float* y, ptrdiff_t n) {
  const bool dense = x_step == 1 && (slope_step == 0 || slope_step == 1);
  const ptrdiff_t whole = dense ? n - n % kFloatLanes : 0;
  for (ptrdiff_t i = 0; i < whole; i += kFloatLanes) {
    const Floats<kFloatLanes> value = load<kFloatLanes>(x + i);
    const Floats<kFloatLanes> s = load_or_repeat<kFloatLanes>(slope + i * slope_step, slope_step);
    store(y + i, where_not_negative(value, product(s, value)));
  }
  for (ptrdiff_t i = whole; i < n; ++i) {
    const float value = x[i * x_step];
    const float scaled = slope[i * slope_step] * value;
    y[i] = value >= 0.0f ? value : scaled;
  }
}

}  // namespace rt
}  // namespace etch
