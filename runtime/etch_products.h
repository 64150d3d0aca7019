// Convolutions and matrix products whose weights, scales or zero points arrive at run time: plain
// loops over a geometry that is constant in generated code. (Constant weights get specialised
// code instead.) C++17, freestanding, no heap, no state. Arithmetic: docs/spec/products.md; sums
// wrap modulo 2^32.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_convert.h"
#include "etch_elementwise.h"
#include "etch_float.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// One spatial axis; steps in elements of x, w and y.
struct ConvAxis {
  int32_t in, kernel, out, stride, dilation, pad;
  ptrdiff_t x_step, w_step, y_step;
};

// Element (channel c, output channel j) of group g at tap 0 is w[g * w_group + c * w_in + j *
// w_out]. Steps of per-channel parameters are 0 where there is one for all.
struct ConvShape {
  bool transposed;
  int32_t batch, group, in, out;  // in and out: channels per group
  ptrdiff_t x_image, x_channel, y_image, y_channel;
  ptrdiff_t w_group, w_in, w_out;
  ConvAxis axis[3];
  Stored x, x_zero, w, w_zero;
  ptrdiff_t w_zero_step;
};

// The position of x that output position `out` reads through `tap`, or -1. Modulo 2^32, because g++
// warns of overflows on paths that are not taken.
static inline int32_t tap_position(const ConvAxis& axis, bool transposed, int32_t out,
                                   int32_t tap) {
  if (!transposed) {
    // Without signs: g++ 12 warns of an overflow on a path of unrolled loops that is never taken.
    const uint32_t begin = static_cast<uint32_t>(out) * static_cast<uint32_t>(axis.stride);
    const int32_t at = static_cast<int32_t>(begin) + tap * axis.dilation - axis.pad;
    return at < axis.in ? at : -1;
  }
  const int32_t at = out + axis.pad - tap * axis.dilation;
  if (at < 0 || at % axis.stride != 0) return -1;
  return at / axis.stride < axis.in ? at / axis.stride : -1;
}

// The sum over channels for one output and one tap; x and w point to channel 0.
static inline uint32_t channel_sum(const ConvShape& s, const uint8_t* x, int32_t x_zero,
                                   const uint8_t* w, int32_t w_zero) {
  uint32_t sum = 0;
  for (int32_t c = 0; c < s.in; ++c) {
    const int32_t a = value_of(x[c * s.x_channel], s.x) - x_zero;
    const int32_t b = value_of(w[c * s.w_in], s.w) - w_zero;
    sum += static_cast<uint32_t>(a * b);
  }
  return sum;
}

// The accumulator of one output element; x at channel 0 of the group in its image.
static inline int32_t conv_sum(const ConvShape& s, const int32_t* out, const uint8_t* x,
                               int32_t x_zero, const uint8_t* w, int32_t w_zero) {
  uint32_t sum = 0;
  for (int32_t i = 0; i < s.axis[0].kernel; ++i) {
    const int32_t d = tap_position(s.axis[0], s.transposed, out[0], i);
    if (d < 0) continue;
    for (int32_t j = 0; j < s.axis[1].kernel; ++j) {
      const int32_t h = tap_position(s.axis[1], s.transposed, out[1], j);
      if (h < 0) continue;
      for (int32_t k = 0; k < s.axis[2].kernel; ++k) {
        const int32_t v = tap_position(s.axis[2], s.transposed, out[2], k);
        if (v < 0) continue;
        sum += channel_sum(
            s, x + d * s.axis[0].x_step + h * s.axis[1].x_step + v * s.axis[2].x_step, x_zero,
            w + i * s.axis[0].w_step + j * s.axis[1].w_step + k * s.axis[2].w_step, w_zero);
      }
    }
  }
  return wrap_s32(sum);
}

// Calls store(index in y, output channel, accumulator) for every output element.
template <class Store>
static inline void convolve(const ConvShape& s, const uint8_t* x, const uint8_t* x_zero,
                            const uint8_t* w, const uint8_t* w_zero, Store store) {
  const int32_t zero = value_of(*x_zero, s.x_zero);
  for (int32_t n = 0; n < s.batch; ++n) {
    for (int32_t m = 0; m < s.group * s.out; ++m) {
      const uint8_t* const xg = x + n * s.x_image + (m / s.out) * s.in * s.x_channel;
      const uint8_t* const wm = w + (m / s.out) * s.w_group + (m % s.out) * s.w_out;
      const int32_t w_zero_m = value_of(w_zero[m * s.w_zero_step], s.w_zero);
      int32_t out[3];
      for (out[0] = 0; out[0] < s.axis[0].out; ++out[0]) {
        for (out[1] = 0; out[1] < s.axis[1].out; ++out[1]) {
          for (out[2] = 0; out[2] < s.axis[2].out; ++out[2]) {
            const ptrdiff_t y = n * s.y_image + m * s.y_channel + out[0] * s.axis[0].y_step +
                                out[1] * s.axis[1].y_step + out[2] * s.axis[2].y_step;
            store(y, m, conv_sum(s, out, xg, zero, wm, w_zero_m));
          }
        }
      }
    }
  }
}

// ConvInteger.
static inline void conv_integer(const ConvShape& s, const uint8_t* x, const uint8_t* x_zero,
                                const uint8_t* w, const uint8_t* w_zero, int32_t* y) {
  convolve(s, x, x_zero, w, w_zero, [&](ptrdiff_t at, int32_t, int32_t sum) { y[at] = sum; });
}

// How sums become 8-bit results.
struct Requantized {
  Stored y, y_zero;
  Range range;
  ptrdiff_t scale_step, bias_step;  // per output channel or column
};

// fl(fl(x * w) / y)
static inline float combined_scale(float x, float w, float y) { return opaque(x * w) / y; }

static inline uint8_t requantized(const Requantized& r, int32_t sum, float scale, int32_t zero) {
  const int32_t q =
      clamp_round_offset(static_cast<float>(sum) * scale, zero, r.range.low, r.range.high);
  return keep<uint8_t>(q, r.y);
}

// QLinearConv and QLinearConvTranspose.
static inline void qlinear_conv(const ConvShape& s, const Requantized& r, const uint8_t* x,
                                const float* x_scale, const uint8_t* x_zero, const uint8_t* w,
                                const float* w_scale, const uint8_t* w_zero, const float* y_scale,
                                const uint8_t* y_zero, const int32_t* bias, uint8_t* y) {
  const int32_t zero = value_of(*y_zero, r.y_zero);
  convolve(s, x, x_zero, w, w_zero, [&](ptrdiff_t at, int32_t m, int32_t sum) {
    const float scale = combined_scale(*x_scale, w_scale[m * r.scale_step], *y_scale);
    y[at] = requantized(r, Add::of(sum, bias[m * r.bias_step]), scale, zero);
  });
}

// The product of one pair of matrices; steps in elements.
struct MatMulShape {
  int32_t rows, depth, cols;
  ptrdiff_t a_row, a_depth, b_depth, b_col, y_row, y_col;
  Stored a, a_zero, b, b_zero;
  ptrdiff_t a_zero_step, b_zero_step;  // per row of a, per column of b
};

template <class Store>
static inline void multiply(const MatMulShape& s, const uint8_t* a, const uint8_t* a_zero,
                            const uint8_t* b, const uint8_t* b_zero, Store store) {
  for (int32_t m = 0; m < s.rows; ++m) {
    const int32_t za = value_of(a_zero[m * s.a_zero_step], s.a_zero);
    for (int32_t n = 0; n < s.cols; ++n) {
      const int32_t zb = value_of(b_zero[n * s.b_zero_step], s.b_zero);
      uint32_t sum = 0;
      for (int32_t k = 0; k < s.depth; ++k) {
        const int32_t left = value_of(a[m * s.a_row + k * s.a_depth], s.a) - za;
        const int32_t right = value_of(b[k * s.b_depth + n * s.b_col], s.b) - zb;
        sum += static_cast<uint32_t>(left * right);
      }
      store(m * s.y_row + n * s.y_col, n, wrap_s32(sum));
    }
  }
}

// MatMulInteger.
static inline void matmul_integer(const MatMulShape& s, const uint8_t* a, const uint8_t* a_zero,
                                  const uint8_t* b, const uint8_t* b_zero, int32_t* y) {
  multiply(s, a, a_zero, b, b_zero, [&](ptrdiff_t at, int32_t, int32_t sum) { y[at] = sum; });
}

// QLinearMatMul.
static inline void qlinear_matmul(const MatMulShape& s, const Requantized& r, const uint8_t* a,
                                  const float* a_scale, const uint8_t* a_zero, const uint8_t* b,
                                  const float* b_scale, const uint8_t* b_zero, const float* y_scale,
                                  const uint8_t* y_zero, uint8_t* y) {
  const int32_t zero = value_of(*y_zero, r.y_zero);
  multiply(s, a, a_zero, b, b_zero, [&](ptrdiff_t at, int32_t n, int32_t sum) {
    const float scale = combined_scale(*a_scale, b_scale[n * r.scale_step], *y_scale);
    y[at] = requantized(r, sum, scale, zero);
  });
}

// n bytes that hold the zero point as x is kept.
static inline void fill_zero_point(const uint8_t* zero_point, Stored as, int32_t offset, uint8_t* y,
                                   ptrdiff_t n) {
  const auto value = static_cast<uint8_t>(value_of(*zero_point, as) + offset);
  for (ptrdiff_t i = 0; i < n; ++i) y[i] = value;
}

// What accumulators start from when weights are constant and only x's zero point is not:
// start[i] = zero_point * factor[i], where the factors are minus the sums of the weights. `offset`
// moves the zero point to how x is kept.
static inline void fold_zero_point(const uint8_t* zero_point, Stored as, int32_t offset,
                                   const int32_t* factor, int32_t* start, ptrdiff_t n) {
  const int32_t zero = value_of(*zero_point, as) + offset;
  for (ptrdiff_t i = 0; i < n; ++i) start[i] = Mul::of(zero, factor[i]);
}

// start[c] is added to channel c of every row of y.
static inline void add_to_rows(const int32_t* start, int32_t* y, ptrdiff_t rows,
                               ptrdiff_t channels) {
  for (ptrdiff_t i = 0; i < rows; ++i, y += channels) {
    for (ptrdiff_t c = 0; c < channels; ++c) y[c] = Add::of(y[c], start[c]);
  }
}

// ---- windows of floats ----

// The taps along one axis that are inside the input for one output position: `count` of them, each
// `step` after the one before, whose positions in x are `x_step` apart.
struct TapRange {
  int32_t first, step, count, x, x_step;
};

static inline TapRange taps_inside(const ConvAxis& axis, bool transposed, int32_t out) {
  TapRange range = {0, 1, 0, 0, 0};
  for (int32_t tap = 0; tap < axis.kernel; ++tap) {
    const int32_t at = tap_position(axis, transposed, out, tap);
    if (at < 0) continue;
    if (range.count == 0) {
      range.first = tap;
      range.x = at;
    } else if (range.count == 1) {
      range.step = tap - range.first;
      range.x_step = at - range.x;
    }
    ++range.count;
  }
  return range;
}

// The taps of one output position, axis by axis.
struct Window {
  TapRange axis[3];
};

// Calls body(x offset, number of the kernel position) for the taps of a window, in row-major order.
template <class Body>
ETCH_INLINE void for_each_tap(const ConvAxis (&axis)[3], const Window& window, Body body) {
  const TapRange& d = window.axis[0];
  const TapRange& h = window.axis[1];
  const TapRange& w = window.axis[2];
  for (int32_t i = 0; i < d.count; ++i) {
    const ptrdiff_t plane = (d.x + i * d.x_step) * axis[0].x_step;
    for (int32_t j = 0; j < h.count; ++j) {
      const int32_t row = (d.first + i * d.step) * axis[1].kernel + h.first + j * h.step;
      ptrdiff_t at = plane + (h.x + j * h.x_step) * axis[1].x_step + w.x * axis[2].x_step;
      int32_t tap = row * axis[2].kernel + w.first;
      for (int32_t k = 0; k < w.count; ++k) {
        body(at, tap);
        at += w.x_step * axis[2].x_step;
        tap += w.step;
      }
    }
  }
}

// The positions [first, last) on an axis all of whose taps are inside the input.
struct Interior {
  int32_t first, last;
};

static inline Interior interior_of(const ConvAxis& a, bool transposed) {
  if (transposed) return {0, 0};  // taps of neighbours differ
  const int32_t first = (a.pad + a.stride - 1) / a.stride;
  const int32_t reach = a.in - 1 + a.pad - (a.kernel - 1) * a.dilation;
  const int32_t last = reach < 0 ? 0 : reach / a.stride + 1;
  const int32_t end = last < a.out ? last : a.out;
  return {first < end ? first : end, end};
}

// taps_inside() of a forward window, without a search where all of it is inside.
ETCH_INLINE TapRange interior_taps(const ConvAxis& axis, Interior interior, int32_t out) {
  if (out < interior.first || out >= interior.last) return taps_inside(axis, false, out);
  return {0, 1, axis.kernel, out * axis.stride - axis.pad, axis.dilation};
}

// Pooling of floats. Steps of w are not used.
struct PoolShape {
  int32_t batch, channels;
  ptrdiff_t x_image, x_channel, y_image, y_channel;
  ConvAxis axis[3];
  int32_t pad_end[3];     // average_pool
  int32_t count_padding;  // average_pool: 1 also counts positions in the padding
};

// The largest float of every window; a window without elements gives -FLT_MAX. NaN elements are
// passed over.
struct WindowMaximum {
  ETCH_INLINE float start() { return -0x1.fffffep+127f; }
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& most, const Floats<lanes>& x) {
    return larger(x, most);
  }
};
struct WindowSum {
  ETCH_INLINE float start() { return 0.0f; }
  template <int lanes>
  ETCH_INLINE Floats<lanes> of(const Floats<lanes>& so_far, const Floats<lanes>& x) {
    return rt::sum(so_far, x);
  }
};

template <class Operation, int lanes, int count>
ETCH_INLINE void start_window(Columns<lanes, count>& all) {
  all.first = all_lanes<lanes>(Operation::start());
  if constexpr (count > 1) start_window<Operation>(all.rest);
}

template <class Operation, int lanes, int count>
ETCH_INLINE void take_element(Columns<lanes, count>& all, const float* x) {
  all.first = Operation::of(all.first, load<lanes>(x));
  if constexpr (count > 1) take_element<Operation>(all.rest, x + lanes);
}

// store(), but not as a copy of bytes, for which gcc would keep all that was taken in memory.
template <int lanes>
ETCH_INLINE void store_result(float* y, const Floats<lanes>& x) {
#if defined(ETCH_ARM_LANES)
  if constexpr (lanes == 4) {
    typedef float Vector __attribute__((vector_size(16), aligned(4), may_alias));
    *reinterpret_cast<Vector*>(y) = x.v;
    return;
  }
#endif
  store(y, x);
}

template <int lanes, int count, class Finish>
ETCH_INLINE void finish_window(const Columns<lanes, count>& all, float* y, Finish finish) {
  store_result(y, finish(all.first));
  if constexpr (count > 1) finish_window(all.rest, y + lanes, finish);
}

// The window's elements of `count` vectors of channels, taken in row-major order; x and y at the
// first.
template <class Operation, int lanes, int count, class Finish>
ETCH_INLINE void pool_vectors(const PoolShape& s, const Window& window, const float* x, float* y,
                              Finish finish) {
  Columns<lanes, count> all;
  start_window<Operation>(all);
  for_each_tap(s.axis, window,
               [&](ptrdiff_t at, int32_t) { take_element<Operation>(all, x + at); });
  finish_window(all, y, finish);
}

// y[channel] = finish(the window's elements of that channel); in vectors where channels are
// contiguous, several for each element of the window.
template <class Operation, class Finish>
ETCH_INLINE void pool_window(const PoolShape& s, const Window& window, const float* x, float* y,
                             Finish finish) {
  constexpr int kMost = 4;
  const ptrdiff_t n = s.channels;
  ptrdiff_t c = 0;
  if (s.x_channel == 1 && s.y_channel == 1) {
    for (; n - c >= kMost * kFloatLanes; c += kMost * kFloatLanes)
      pool_vectors<Operation, kFloatLanes, kMost>(s, window, x + c, y + c, finish);
    if constexpr (kFloatLanes > 1) {
      if (n - c >= 2 * kFloatLanes) {
        pool_vectors<Operation, kFloatLanes, 2>(s, window, x + c, y + c, finish);
        c += 2 * kFloatLanes;
      }
    }
    c = for_vectors<kFloatLanes>(c, n, [&](ptrdiff_t i, auto width) {
      pool_vectors<Operation, decltype(width)::value, 1>(s, window, x + i, y + i, finish);
    });
  }
  for (; c < n; ++c)
    pool_vectors<Operation, 1, 1>(s, window, x + c * s.x_channel, y + c * s.y_channel, finish);
}

// Positions of the window that are inside the image and the padding around it.
static inline int32_t padded_positions(const PoolShape& s, const int32_t* out) {
  int32_t count = 1;
  for (int a = 0; a < 3; ++a) {
    int32_t along = 0;
    for (int32_t k = 0; k < s.axis[a].kernel; ++k) {
      const int32_t at = out[a] * s.axis[a].stride + k * s.axis[a].dilation - s.axis[a].pad;
      along += at < s.axis[a].in + s.pad_end[a] ? 1 : 0;
    }
    count *= along;
  }
  return count;
}

// Calls pool(out, window, x of the image, y of the first channel) for every output position.
template <class Pool>
ETCH_INLINE void for_each_window(const PoolShape& s, const float* x, float* y, Pool pool) {
  const Interior interior = interior_of(s.axis[2], false);
  Window window = {};
  int32_t out[3];
  for (int32_t n = 0; n < s.batch; ++n) {
    for (out[0] = 0; out[0] < s.axis[0].out; ++out[0]) {
      window.axis[0] = taps_inside(s.axis[0], false, out[0]);
      for (out[1] = 0; out[1] < s.axis[1].out; ++out[1]) {
        window.axis[1] = taps_inside(s.axis[1], false, out[1]);
        float* const row =
            y + n * s.y_image + out[0] * s.axis[0].y_step + out[1] * s.axis[1].y_step;
        for (out[2] = 0; out[2] < s.axis[2].out; ++out[2]) {
          window.axis[2] = interior_taps(s.axis[2], interior, out[2]);
          pool(out, window, x + n * s.x_image, row + out[2] * s.axis[2].y_step);
        }
      }
    }
  }
}

static inline void max_pool(const PoolShape& s, const float* x, float* y) {
  for_each_window(
      s, x, y, [&](const int32_t*, const Window& window, const float* image, float* to) {
        pool_window<WindowMaximum>(s, window, image, to, [](const auto& most) { return most; });
      });
}

// The mean of every window; a window without elements gives 0.
static inline void average_pool(const PoolShape& s, const float* x, float* y) {
  for_each_window(
      s, x, y, [&](const int32_t* out, const Window& window, const float* image, float* to) {
        const int32_t inside = window.axis[0].count * window.axis[1].count * window.axis[2].count;
        const int32_t count = s.count_padding != 0 ? padded_positions(s, out) : inside;
        const float divisor = count == 0 ? 1.0f : static_cast<float>(count);
        pool_window<WindowSum>(s, window, image, to, [=](const auto& sum) {
          return quotient(sum, same_lanes(sum, divisor));
        });
      });
}

}  // namespace rt
}  // namespace etch
