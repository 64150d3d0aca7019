// Pooling of floats whose channels are planes (NCHW) and whose windows are one or two positions
// apart: lanes are positions of a line, so that no other order of x is needed. The operations on a
// window's elements are those of etch_products.h in the same order, so the bits are, too.
// Positions whose window reaches into the padding are taken one by one, of several channels at a
// time. C++17, freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_products.h"

namespace etch {
namespace rt {

// Lanes 0, 2, 4, ... of a and, after them, lanes 1, 3, 5, ... of b.
template <int lanes>
ETCH_INLINE Floats<lanes> every_second(const Floats<lanes>& a, const Floats<lanes>& b) {
  if constexpr (lanes == 1) {
    return a;
  } else {
    typedef typename Floats<lanes>::Vector Vector;
    Vector out{};
#if defined(__GNUC__)
#if defined(__clang__) || __GNUC__ >= 12
    if constexpr (lanes == 4) out = __builtin_shufflevector(a.v, b.v, 0, 2, 5, 7);
    if constexpr (lanes == 8) out = __builtin_shufflevector(a.v, b.v, 0, 2, 4, 6, 9, 11, 13, 15);
    if constexpr (lanes == 16)
      out = __builtin_shufflevector(a.v, b.v, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29,
                                    31);
#else
    typedef typename Lanes<lanes>::Mask Which;
    if constexpr (lanes == 4) out = __builtin_shuffle(a.v, b.v, Which{0, 2, 5, 7});
    if constexpr (lanes == 8) out = __builtin_shuffle(a.v, b.v, Which{0, 2, 4, 6, 9, 11, 13, 15});
    if constexpr (lanes == 16)
      out = __builtin_shuffle(a.v, b.v,
                              Which{0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31});
#endif
#endif
    return {out};
  }
}

// The elements at x, x + stride, x + 2 * stride, ...; reads none after the last of them.
template <int stride, int lanes>
ETCH_INLINE Floats<lanes> load_apart(const float* x) {
  if constexpr (stride == 1) {
    return load<lanes>(x);
  } else {
    return every_second(load<lanes>(x), load<lanes>(x + lanes - 1));
  }
}

// Vectors of neighbouring positions, of which the last one begins `last` positions after the first.
template <class Operation, int stride, int lanes, int count>
ETCH_INLINE void take_positions(Columns<lanes, count>& all, const float* x, ptrdiff_t last) {
  if constexpr (count == 1) x += stride * last;
  all.first = Operation::of(all.first, load_apart<stride, lanes>(x));
  if constexpr (count > 1)
    take_positions<Operation, stride>(all.rest, x + stride * lanes, last - lanes);
}

template <int lanes, int count, class Finish>
ETCH_INLINE void finish_positions(const Columns<lanes, count>& all, float* y, ptrdiff_t last,
                                  Finish finish) {
  if constexpr (count == 1) y += last;
  store_result(y, finish(all.first));
  if constexpr (count > 1) finish_positions(all.rest, y + lanes, last - lanes, finish);
}

// `count` vectors of positions, whose windows have the same taps; x belongs to the first one.
template <class Operation, int stride, int lanes, int count, class Finish>
ETCH_INLINE void pool_positions(const PoolShape& s, const Window& window, const float* x, float* y,
                                ptrdiff_t last, Finish finish) {
  Columns<lanes, count> all;
  start_window<Operation>(all);
  for_each_tap(s.axis, window, [&](ptrdiff_t at, int32_t) {
    take_positions<Operation, stride>(all, x + at, last);
  });
  finish_positions(all, y, last, finish);
}

// The last n <= count * lanes positions of a line at once: vectors one after the other would each
// wait for its own sums. The last vector begins earlier, perhaps before x, where fewer than `lanes`
// positions are left.
template <class Operation, int stride, int lanes, int count, class Finish>
ETCH_INLINE void pool_rest(const PoolShape& s, const Window& window, const float* x, float* y,
                           int32_t n, Finish finish) {
  if constexpr (count > 1) {
    if (n <= (count - 1) * lanes)
      return pool_rest<Operation, stride, lanes, count - 1>(s, window, x, y, n, finish);
  }
  pool_positions<Operation, stride, lanes, count>(s, window, x, y, n - lanes, finish);
}

// n >= lanes positions.
template <class Operation, int stride, int lanes, class Finish>
ETCH_INLINE void pool_line(const PoolShape& s, const Window& window, const float* x, float* y,
                           int32_t n, Finish finish) {
  constexpr int32_t kMost = 4;
  int32_t done = 0;
  for (; n - done >= kMost * lanes; done += kMost * lanes) {
    pool_positions<Operation, stride, lanes, kMost>(s, window, x + done * stride, y + done,
                                                    (kMost - 1) * lanes, finish);
  }
  if (done < n)
    pool_rest<Operation, stride, lanes, kMost>(s, window, x + done * stride, y + done, n - done,
                                               finish);
}

// The same line of all channels.
template <class Operation, int stride, int lanes, class Finish>
ETCH_INLINE void pool_planes(const PoolShape& s, const Window& window, const float* x, float* y,
                             int32_t n, Finish finish) {
  for (int32_t c = 0; c < s.channels; ++c, x += s.x_channel, y += s.y_channel)
    pool_line<Operation, stride, lanes>(s, window, x, y, n, finish);
}

template <class Operation, int count>
ETCH_INLINE void take_channels(Columns<1, count>& all, const float* x, ptrdiff_t channel) {
  all.first = Operation::of(all.first, load<1>(x));
  if constexpr (count > 1) take_channels<Operation>(all.rest, x + channel, channel);
}

template <int count, class Finish>
ETCH_INLINE void finish_channels(const Columns<1, count>& all, float* y, ptrdiff_t channel,
                                 Finish finish) {
  store(y, finish(all.first));
  if constexpr (count > 1) finish_channels(all.rest, y + channel, channel, finish);
}

// One position of all channels.
template <class Operation, int count, class Finish>
static inline void pool_position(const PoolShape& s, const Window& window, const float* x, float* y,
                                 int32_t channels, Finish finish) {
  for (; channels >= count; channels -= count, x += count * s.x_channel, y += count * s.y_channel) {
    Columns<1, count> all;
    start_window<Operation>(all);
    for_each_tap(s.axis, window, [&](ptrdiff_t at, int32_t) {
      take_channels<Operation>(all, x + at, s.x_channel);
    });
    finish_channels(all, y, s.y_channel, finish);
  }
  if constexpr (count > 1) pool_position<Operation, 1>(s, window, x, y, channels, finish);
}

// The positions of a line from `interior.first` on whose windows are inside, in vectors of at most
// `lanes`. How many those are: all of them, or none if they do not fill a vector.
template <class Operation, int stride, int lanes, class Finish>
ETCH_INLINE int32_t pool_inside(const PoolShape& s, const Window& window, const float* x, float* y,
                                int32_t n, Finish finish) {
  if constexpr (lanes > 1) {
    if (n < lanes)
      return pool_inside<Operation, stride, narrower(lanes)>(s, window, x, y, n, finish);
    pool_planes<Operation, stride, lanes>(s, window, x, y, n, finish);
    return n;
  }
  return 0;
}

// One line of all channels; finish_of(position, window) says what becomes of what was taken.
template <class Operation, class FinishOf>
ETCH_INLINE void pool_row(const PoolShape& s, const Interior& interior, Window& window,
                          int32_t (&out)[3], const float* x, float* y, FinishOf finish_of) {
  constexpr int kChannels = kFloatLanes > 1 ? 8 : 4;
  const int32_t inside = interior.last - interior.first;
  out[2] = interior.first;
  window.axis[2] = interior_taps(s.axis[2], interior, out[2]);
  int32_t done = 0;
  if (inside > 0 && s.axis[2].stride == 1)
    done = pool_inside<Operation, 1, kFloatLanes>(s, window, x, y + out[2], inside,
                                                  finish_of(out, window));
  else if (inside > 0 && s.axis[2].stride == 2)
    done = pool_inside<Operation, 2, kFloatLanes>(s, window, x, y + out[2], inside,
                                                  finish_of(out, window));
  for (out[2] = 0; out[2] < s.axis[2].out; ++out[2]) {
    if (out[2] == interior.first) out[2] += done;
    if (out[2] == s.axis[2].out) break;
    window.axis[2] = interior_taps(s.axis[2], interior, out[2]);
    pool_position<Operation, kChannels>(s, window, x, y + out[2], s.channels,
                                        finish_of(out, window));
  }
}

// Both tensors with neighbouring positions on the last axis. The loops are those of
// for_each_window(): shared, MaxPool 3x3 with stride 2 took 6 % longer (g++ 12, AVX2).
template <class Operation, class FinishOf>
ETCH_INLINE void pool_lines(const PoolShape& s, const float* x, float* y, FinishOf finish_of) {
  const Interior interior = interior_of(s.axis[2], false);
  Window window = {};
  int32_t out[3] = {};
  for (int32_t n = 0; n < s.batch; ++n) {
    for (out[0] = 0; out[0] < s.axis[0].out; ++out[0]) {
      window.axis[0] = taps_inside(s.axis[0], false, out[0]);
      for (out[1] = 0; out[1] < s.axis[1].out; ++out[1]) {
        window.axis[1] = taps_inside(s.axis[1], false, out[1]);
        float* const row =
            y + n * s.y_image + out[0] * s.axis[0].y_step + out[1] * s.axis[1].y_step;
        pool_row<Operation>(s, interior, window, out, x + n * s.x_image, row, finish_of);
      }
    }
  }
}

// max_pool() and average_pool(). With vectors they are inlined: where the sizes are known, a few of
// the cases above are all that is left, less code than a function for all pools of a network.
#if defined(ETCH_FOUR_FLOATS)
#define ETCH_POOL_FUNCTION ETCH_INLINE
#else
#define ETCH_POOL_FUNCTION static inline
#endif

ETCH_POOL_FUNCTION void max_pool_lines(const PoolShape& s, const float* x, float* y) {
  pool_lines<WindowMaximum>(
      s, x, y, [](const auto&, const Window&) { return [](const auto& most) { return most; }; });
}

ETCH_POOL_FUNCTION void average_pool_lines(const PoolShape& s, const float* x, float* y) {
  pool_lines<WindowSum>(s, x, y, [&](const int32_t(&out)[3], const Window& window) {
    const int32_t inside = window.axis[0].count * window.axis[1].count * window.axis[2].count;
    const int32_t count = s.count_padding != 0 ? padded_positions(s, out) : inside;
    const float divisor = count == 0 ? 1.0f : static_cast<float>(count);
    return [=](const auto& sum) { return quotient(sum, same_lanes(sum, divisor)); };
  });
}

#undef ETCH_POOL_FUNCTION

}  // namespace rt
}  // namespace etch
