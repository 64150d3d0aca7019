// Sums, products, rescaling and pooling of 16-bit values, requantized to 16 bits with integers
// alone:
//   y = limits of rne(v) + zero,   v the exact real number that the operators mean; ties to even.
// v = (a * part_a + b * part_b) / unit with integers. A product in 64 bits gives an integer q that
// is less than 3/4 away from v, and what is left, a * part_a + b * part_b - q * unit, decides
// exactly; it is small, so that it may be computed modulo 2^32 or 2^64. C++17, freestanding, no
// heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_intrinsics.h"
#include "etch_products.h"
#include "etch_words.h"

namespace etch {
namespace rt {

// Of y.
struct WordLimits {
  int32_t zero, low, high;
};

// The factor is part / unit in units of 2^-(shift - 14), rounded; shift is 32 or more. Rest is
// uint32_t where unit is at most 2^30, else uint64_t.
template <class Rest>
struct WordTerm {
  int32_t zero, factor;
  Rest part;
};
template <class Rest>
struct WordSum {
  WordTerm<Rest> a, b;
  Rest unit;
  int32_t shift;
  WordLimits y;
};

// The nearest integer to q + rest / unit, |rest| < 3/4 unit; ties to even.
template <class Int>
ETCH_INLINE int32_t nearest_even(int32_t q, Int rest, Int unit) {
  const Int odd = q & 1, twice = 2 * rest;
  return q + (twice + odd > unit ? 1 : 0) - (odd - twice > unit ? 1 : 0);
}
ETCH_INLINE int32_t nearest_word(int32_t q, uint32_t rest, uint32_t unit) {
  return nearest_even(q, static_cast<int32_t>(rest), static_cast<int32_t>(unit));
}
ETCH_INLINE int32_t nearest_word(int32_t q, uint64_t rest, uint64_t unit) {
  return nearest_even(q, static_cast<int64_t>(rest), static_cast<int64_t>(unit));
}

template <class T>
ETCH_INLINE T limited_word(int32_t q, const WordLimits& y) {
  const int32_t above = q + y.zero > y.low ? q + y.zero : y.low;
  return static_cast<T>(above < y.high ? above : y.high);
}

// b is 0 where there is one term alone.
template <class T, class Rest>
ETCH_INLINE T word_sum(const WordSum<Rest>& s, int32_t a, int32_t b) {
  const int64_t sum = int64_t{a * 16384} * s.a.factor + int64_t{b * 16384} * s.b.factor +
                      (int64_t{1} << (s.shift - 1));
  const int32_t q = static_cast<int32_t>(sum >> 32) >> (s.shift - 32);
  const Rest rest = static_cast<Rest>(a) * s.a.part + static_cast<Rest>(b) * s.b.part -
                    static_cast<Rest>(q) * s.unit;
  return limited_word<T>(nearest_word(q, rest, s.unit), s.y);
}

#if defined(ETCH_WIDE_WORDS)
typedef uint32_t RestVector __attribute__((vector_size(4 * kWordLanes)));

template <class T>
ETCH_INLINE SumVector less_zero(const T* p, int32_t zero) {
  typedef T Loaded __attribute__((vector_size(sizeof(T) * kWordLanes)));
  Loaded v;
  ETCH_MEMCPY(&v, p, sizeof v);
  return __builtin_convertvector(v, SumVector) - zero;
}

// The factors in all lanes, and one half of the last bit that counts.
struct SumFactors {
  WideVector a, b, half;
};
ETCH_INLINE SumFactors factors_of(const WordSum<uint32_t>& s) {
  const WideVector zero = {};
  return {zero + s.a.factor, zero + s.b.factor, zero + (int64_t{1} << (s.shift - 1))};
}

// The upper halves of sums of the even lanes of pairs.
ETCH_INLINE PairVector even_sums(const SumFactors& f, PairVector a, PairVector b) {
  return reinterpret_cast<PairVector>(wide_product(reinterpret_cast<WideVector>(a), f.a) +
                                      wide_product(reinterpret_cast<WideVector>(b), f.b) + f.half);
}

// word_sum() of a vector.
template <class T>
ETCH_INLINE void sum_vector(const WordSum<uint32_t>& s, const SumFactors& f, SumVector a,
                            SumVector b, T* y) {
  const auto pa = reinterpret_cast<PairVector>(a * 16384);
  const auto pb = reinterpret_cast<PairVector>(b * 16384);
  const PairVector even = even_sums(f, pa, pb), odd = even_sums(f, pa >> 32, pb >> 32);
  const PairVector upper = (even >> 32) | ((odd >> 32) << 32);
  const SumVector q = reinterpret_cast<SumVector>(upper) >> (s.shift - 32);
  const RestVector rest = reinterpret_cast<RestVector>(a) * s.a.part +
                          reinterpret_cast<RestVector>(b) * s.b.part -
                          reinterpret_cast<RestVector>(q) * s.unit;
  const auto twice = reinterpret_cast<SumVector>(rest + rest);
  const auto unit = static_cast<int32_t>(s.unit);
  const SumVector last = q & 1, all = {};
  const SumVector nearest =
      q - (twice + last > all + unit) + (last - twice > all + unit) + s.y.zero;
  store_limited(nearest, all + s.y.low, all + s.y.high, y);
}

// The sums of as many neighbours as fill vectors; returns how many.
template <class T>
ETCH_INLINE ptrdiff_t sum_vectors(const WordSum<uint32_t>& s, const T* a, const T* b, T* y,
                                  ptrdiff_t n) {
  const SumFactors f = factors_of(s);
  const ptrdiff_t whole = n - n % kWordLanes;
  for (ptrdiff_t i = 0; i < whole; i += kWordLanes) {
    const SumVector none = {};
    sum_vector(s, f, less_zero(a + i, s.a.zero), b == nullptr ? none : less_zero(b + i, s.b.zero),
               y + i);
  }
  return whole;
}
template <class T>
ETCH_INLINE ptrdiff_t sum_vectors(const WordSum<uint64_t>&, const T*, const T*, T*, ptrdiff_t) {
  return 0;
}
#else
template <class T, class Rest>
ETCH_INLINE ptrdiff_t sum_vectors(const WordSum<Rest>&, const T*, const T*, T*, ptrdiff_t) {
  return 0;
}
#endif

// y[i] = a[i * a_step] + b[i * b_step].
template <class T, class Rest>
static inline void sum_words(const WordSum<Rest>& s, const T* a, ptrdiff_t a_step, const T* b,
                             ptrdiff_t b_step, T* y, ptrdiff_t n) {
  ptrdiff_t i = a_step == 1 && b_step == 1 ? sum_vectors(s, a, b, y, n) : 0;
  for (; i < n; ++i) y[i] = word_sum<T>(s, a[i * a_step] - s.a.zero, b[i * b_step] - s.b.zero);
}

// y[i] = x[i * step] in other units.
template <class T, class Rest>
static inline void rescale_words(const WordSum<Rest>& s, const T* x, ptrdiff_t step, T* y,
                                 ptrdiff_t n) {
  const T* const none = nullptr;
  ptrdiff_t i = step == 1 ? sum_vectors(s, x, none, y, n) : 0;
  for (; i < n; ++i) y[i] = word_sum<T>(s, x[i * step] - s.a.zero, 0);
}

// ---- products of elements ----

// (a - a_zero) * (b - b_zero) counts in units of (high * 2^31 + low) / 2^(shift + 31) of y; high
// and low have 29 and 31 bits, shift is in [1, 61].
struct WordProduct {
  int32_t a_zero, b_zero;
  uint32_t high, low;
  int32_t shift;
  WordLimits y;
};
// What is beyond every limit; products are cut off there.
constexpr int32_t kBeyondWords = 1 << 17;

// Signs are put aside: ties are the same for both, and the product of two words has 32 bits.
template <class T>
ETCH_INLINE T word_product(const WordProduct& s, int32_t a, int32_t b) {
  const bool negative = (a < 0) != (b < 0);
  const uint32_t product =
      static_cast<uint32_t>(a < 0 ? -a : a) * static_cast<uint32_t>(b < 0 ? -b : b);
  const uint64_t part = uint64_t{product} * s.low;
  const uint64_t sticky = (part & 0x7fffffff) != 0 ? 1 : 0;  // there is a rest
  const uint64_t whole = (uint64_t{product} * s.high + (part >> 31)) * 2 + sticky;
  const int32_t shift = s.shift + 1;
  const uint64_t below_half = (uint64_t{1} << (shift - 1)) - 1;
  const uint64_t nearest = (whole + below_half + ((whole >> shift) & 1)) >> shift;
  const int32_t q = nearest < kBeyondWords ? static_cast<int32_t>(nearest) : kBeyondWords;
  return limited_word<T>(negative ? -q : q, s.y);
}

#if defined(ETCH_WIDE_WORDS)
// Without ties: a product of two words less their zero points, in a range narrower than 2^32, is
// the sum of `middle` and of 32 bits. What `middle` adds to the result is in the offset of `factor`
// and, below its unit, in `part`.
struct UntiedProduct {
  bool is_right;
  int32_t middle;
  UntiedHalf factor;
  PairVector part;
  int32_t kept;
};

// The middle of the range of products of two words.
template <class T>
ETCH_INLINE int64_t middle_product(const WordProduct& s) {
  constexpr int64_t kLeast = T{0} < static_cast<T>(-1) ? 0 : -32768;
  const int64_t a = s.a_zero - kLeast, b = s.b_zero - kLeast;  // how far words are below zero
  const int64_t more_a = 65535 - a, more_b = 65535 - b;
  const int64_t most = a * b > more_a * more_b ? a * b : more_a * more_b;
  const int64_t least = a * more_b > b * more_a ? a * more_b : b * more_a;
  return (most - least) / 2;
}

// y = product * m / 2^e; a tie is a product that is an odd multiple of 2^(e - 1) / the power of two
// in m, which has more than 32 bits if `is_right`.
template <class T>
ETCH_INLINE UntiedProduct untied_product(const WordProduct& s) {
  const int64_t middle = middle_product<T>(s), m = (int64_t{s.high} << 31) + s.low;
  const int32_t e = s.shift + 31;
  const bool is_right = e >= 64 && (m & -m) <= int64_t{1} << (e - 33);
  const auto low = static_cast<int32_t>(static_cast<uint32_t>(m));
  const auto high = static_cast<int32_t>((m - low) >> 32);
  const int64_t more = middle * low, half = is_right ? int64_t{1} << (e - 33) : 0;
  const int64_t offset = middle * high + (more >> 32) + half - kAddedByPart;
  const uint64_t part = (uint64_t{1} << 62) + static_cast<uint32_t>(more);
  const WideVector none = {};
  const PairVector zeros = {};
  return {is_right,
          static_cast<int32_t>(middle),
          {none + high, none + low, zeros + static_cast<uint64_t>(offset)},
          zeros + part,
          e - 64};
}

// word_product() of neighbours, as many as fill vectors; returns how many.
template <class T>
ETCH_INLINE ptrdiff_t untied_products(const WordProduct& s, const UntiedProduct& u, const T* a,
                                      ptrdiff_t a_step, const T* b, ptrdiff_t b_step, T* y,
                                      ptrdiff_t n) {
  const SumVector none = {};
  const auto load = [&](const T* p, ptrdiff_t step, int32_t zero) {
    return step == 0 ? none + (*p - zero) : less_zero(p, zero);
  };
  const RestVector middle = RestVector{} + static_cast<uint32_t>(u.middle);
  const SumVector least = none + s.y.low, most = none + s.y.high;
  const ptrdiff_t whole = n - n % kWordLanes;
  for (ptrdiff_t i = 0; i < whole; i += kWordLanes) {
    const auto of_a = reinterpret_cast<RestVector>(load(a + i * a_step, a_step, s.a_zero));
    const auto of_b = reinterpret_cast<RestVector>(load(b + i * b_step, b_step, s.b_zero));
    const auto pairs = reinterpret_cast<PairVector>(of_a * of_b - middle);
    const SumVector upper = untied_words({u.factor, u.factor, u.part}, pairs);
    store_limited((upper >> u.kept) + s.y.zero, least, most, y + i);
  }
  return whole;
}

// The same with ties, half as many at a time.
template <class T>
ETCH_INLINE ptrdiff_t product_vectors(const WordProduct& s, const T* a, ptrdiff_t a_step,
                                      const T* b, ptrdiff_t b_step, T* y, ptrdiff_t n) {
  typedef T Loaded __attribute__((vector_size(sizeof(T) * kWideLanes)));
  const WideVector none = {};
  const auto wide = [&](const T* p, ptrdiff_t step, int32_t zero) {
    if (step == 0) return none + (*p - zero);
    Loaded v;
    ETCH_MEMCPY(&v, p, sizeof v);
    return __builtin_convertvector(v, WideVector) - zero;
  };
  const int32_t shift = s.shift + 1;
  const WideVector high = none + s.high, low = none + s.low;
  const WideVector below_half = none + ((int64_t{1} << (shift - 1)) - 1);
  const WideVector least = none + s.y.low, most = none + s.y.high, beyond = none + kBeyondWords;
  const ptrdiff_t vectors = n - n % kWideLanes;
  for (ptrdiff_t i = 0; i < vectors; i += kWideLanes) {
    const WideVector product = wide_product(wide(a + i * a_step, a_step, s.a_zero),
                                            wide(b + i * b_step, b_step, s.b_zero));
    const WideVector sign = product < 0;
    const WideVector magnitude = (product ^ sign) - sign;
    const WideVector part = wide_unsigned_product(magnitude, low);
    const WideVector sticky = (part & 0x7fffffff) != 0;  // -1: there is a rest
    const auto upper = reinterpret_cast<UnsignedWide>(part) >> 31;
    const WideVector whole =
        (wide_unsigned_product(magnitude, high) + reinterpret_cast<WideVector>(upper)) * 2 - sticky;
    const WideVector last =
        reinterpret_cast<WideVector>(reinterpret_cast<UnsignedWide>(whole) >> shift) & 1;
    const WideVector nearest = reinterpret_cast<WideVector>(
        reinterpret_cast<UnsignedWide>(whole + below_half + last) >> shift);
    const WideVector cut = nearest < beyond ? nearest : beyond;
    const WideVector q = (cut ^ sign) - sign + s.y.zero;
    const WideVector above = q > least ? q : least;
    const Loaded result = __builtin_convertvector(above < most ? above : most, Loaded);
    ETCH_MEMCPY(y + i, &result, sizeof result);
  }
  return vectors;
}
#endif

// y[i] = a[i * a_step] * b[i * b_step].
template <class T>
static inline void multiply_words(const WordProduct& s, const T* a, ptrdiff_t a_step, const T* b,
                                  ptrdiff_t b_step, T* y, ptrdiff_t n) {
  ptrdiff_t i = 0;
#if defined(ETCH_WIDE_WORDS)
  if (a_step <= 1 && b_step <= 1) {
    const UntiedProduct untied = untied_product<T>(s);
    i = untied.is_right ? untied_products(s, untied, a, a_step, b, b_step, y, n)
                        : product_vectors(s, a, a_step, b, b_step, y, n);
  }
#endif
  for (; i < n; ++i) y[i] = word_product<T>(s, a[i * a_step] - s.a_zero, b[i * b_step] - s.b_zero);
}

// ---- pooling ----

// The mean of a window with `count` elements is their sum * part / (count * unit); its factor, in
// units of 2^-shift, is number count - least of `counts`.
struct WordMean {
  int32_t x_zero, least, counts, shift;
  uint64_t part, unit;
  WordLimits y;
};

// Calls pool(out, window, offset in x, offset in y) for every output position of every image.
template <class Pool>
ETCH_INLINE void for_each_word_window(const PoolShape& s, Pool pool) {
  Window window = {};
  int32_t out[3];
  for (int32_t n = 0; n < s.batch; ++n) {
    for (out[0] = 0; out[0] < s.axis[0].out; ++out[0]) {
      window.axis[0] = taps_inside(s.axis[0], false, out[0]);
      for (out[1] = 0; out[1] < s.axis[1].out; ++out[1]) {
        window.axis[1] = taps_inside(s.axis[1], false, out[1]);
        for (out[2] = 0; out[2] < s.axis[2].out; ++out[2]) {
          window.axis[2] = taps_inside(s.axis[2], false, out[2]);
          pool(out, window, n * s.x_image,
               n * s.y_image + out[0] * s.axis[0].y_step + out[1] * s.axis[1].y_step +
                   out[2] * s.axis[2].y_step);
        }
      }
    }
  }
}

// The largest element of every window; one without elements gives the type's least value.
template <class T>
static inline void max_pool_words(const PoolShape& s, const T* x, T* y) {
  constexpr T kLeast = T{0} < static_cast<T>(-1) ? T{0} : static_cast<T>(-32768);
  for_each_word_window(s,
                       [&](const int32_t*, const Window& window, ptrdiff_t x_at, ptrdiff_t y_at) {
                         for (int32_t c = 0; c < s.channels; ++c) {
                           T most = kLeast;
                           for_each_tap(s.axis, window, [&](ptrdiff_t at, int32_t) {
                             const T each = x[x_at + c * s.x_channel + at];
                             most = each > most ? each : most;
                           });
                           y[y_at + c * s.y_channel] = most;
                         }
                       });
}

ETCH_INLINE int32_t word_mean(const WordMean& m, const int32_t* factors, int32_t sum,
                              int32_t count) {
  if (count == 0) return 0;
  const int64_t product = int64_t{sum} * factors[count - m.least];
  const auto q = static_cast<int32_t>((product + (int64_t{1} << (m.shift - 1))) >> m.shift);
  const uint64_t unit = m.unit * static_cast<uint64_t>(count);
  const uint64_t rest = static_cast<uint64_t>(sum) * m.part - static_cast<uint64_t>(q) * unit;
  return nearest_word(q, rest, unit);
}

static constexpr int32_t kPoolChannels = 16;  // side by side, for vectors

// The sum of a window's elements of one channel, whose lines are neighbours.
template <class T>
ETCH_INLINE int32_t sum_of_lines(const PoolShape& s, const Window& window, const T* x) {
  constexpr int32_t kFlip = T{0} < static_cast<T>(-1) ? 0x8000 : 0;
  const int32_t count = window.axis[2].count;
  Window starts = window;
  starts.axis[2].count = count > 0 ? 1 : 0;
  uint32_t sum = 0;
  for_each_tap(s.axis, starts, [&](ptrdiff_t at, int32_t) {
    sum += sum_of_words(x + at, count, 1, kFlip) + static_cast<uint32_t>(count * kFlip);
  });
  return static_cast<int32_t>(sum);
}

#if defined(ETCH_ARM_LANES)
struct PoolSums {
  int32x4_t a, b, c, d;
};

// Adds kPoolChannels neighbours.
ETCH_INLINE PoolSums plus_channels(const PoolSums& s, const int16_t* x) {
  const int16x8_t low = vld1q_s16(x), high = vld1q_s16(x + 8);
  return {vaddw_s16(s.a, vget_low_s16(low)), vaddw_high_s16(s.b, low),
          vaddw_s16(s.c, vget_low_s16(high)), vaddw_high_s16(s.d, high)};
}
ETCH_INLINE int32x4_t plus_halves(int32x4_t sums, uint16x4_t x) {
  return vreinterpretq_s32_u32(vaddw_u16(vreinterpretq_u32_s32(sums), x));
}
ETCH_INLINE PoolSums plus_channels(const PoolSums& s, const uint16_t* x) {
  const uint16x8_t low = vld1q_u16(x), high = vld1q_u16(x + 8);
  return {plus_halves(s.a, vget_low_u16(low)), plus_halves(s.b, vget_high_u16(low)),
          plus_halves(s.c, vget_low_u16(high)), plus_halves(s.d, vget_high_u16(high))};
}
#endif

// Adds to each of `width` sums what the window has of its channel.
template <class T>
ETCH_INLINE void add_window(const PoolShape& s, const Window& window, const T* x, int32_t width,
                            int32_t (&sums)[kPoolChannels]) {
#if defined(ETCH_ARM_LANES)
  if (s.x_channel == 1 && width == kPoolChannels) {
    PoolSums part;
    ETCH_MEMCPY(&part, sums, sizeof part);
    for_each_tap(s.axis, window,
                 [&](ptrdiff_t at, int32_t) { part = plus_channels(part, x + at); });
    ETCH_MEMCPY(sums, &part, sizeof part);
    return;
  }
#endif
  for_each_tap(s.axis, window, [&](ptrdiff_t at, int32_t) {
    for (int32_t c = 0; c < width; ++c) sums[c] += x[at + c * s.x_channel];
  });
}

// The mean of every window; positions in the padding are zeros that count where shape says so.
template <class T>
static inline void average_pool_words(const PoolShape& s, const WordMean& m, const int32_t* factors,
                                      const T* x, T* y) {
  constexpr int32_t kLine = 8;  // elements of one channel from which on vectors take them
  const bool lines = s.axis[2].x_step == 1 && s.axis[2].dilation == 1 && s.axis[2].kernel >= kLine;
  for_each_word_window(
      s, [&](const int32_t* out, const Window& window, ptrdiff_t x_at, ptrdiff_t y_at) {
        const int32_t inside = window.axis[0].count * window.axis[1].count * window.axis[2].count;
        const int32_t count = s.count_padding != 0 ? padded_positions(s, out) : inside;
        const auto store = [&](int32_t c, int32_t sum) {
          y[y_at + c * s.y_channel] = limited_word<T>(word_mean(m, factors, sum, count), m.y);
        };
        if (lines) {
          for (int32_t c = 0; c < s.channels; ++c)
            store(c, sum_of_lines(s, window, x + x_at + c * s.x_channel) - inside * m.x_zero);
        }
        for (int32_t first = 0; !lines && first < s.channels; first += kPoolChannels) {
          const int32_t left = s.channels - first;
          const int32_t width = left < kPoolChannels ? left : kPoolChannels;
          int32_t sums[kPoolChannels];
          for (int32_t& sum : sums) sum = -inside * m.x_zero;
          add_window(s, window, x + x_at + first * s.x_channel, width, sums);
          for (int32_t c = 0; c < width; ++c) store(first + c, sums[c]);
        }
      });
}

}  // namespace rt
}  // namespace etch
