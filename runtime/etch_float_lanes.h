// What functions of floats need besides etch_vector.h: fused steps, roots, and the bits of
// several floats at once.
//
// One meaning for every number of lanes, which is that of the scalar function named beside each:
// a kernel written over Floats<lanes> gives the same bits with 1, 4, 8 or 16 lanes. Where a target
// has no fused multiply-add, 4 lanes compute it as fma_software() does, in pairs of doubles. C++17,
// freestanding, no heap, no state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "etch_checked_floats.h"
#include "etch_float.h"
#include "etch_float_limits.h"
#include "etch_intrinsics.h"
#include "etch_neon_steps.h"
#include "etch_vector.h"

namespace etch {
namespace rt {

// ---- bits ----

// The bits of `lanes` floats as integers.
#if defined(__GNUC__)
template <int lanes>
struct Ints {
  typedef int32_t Vector __attribute__((vector_size(4 * lanes)));
  Vector v;
};
template <>
struct Ints<1> {
  int32_t v;
};
#else
template <int lanes>
struct Ints {
  int32_t v;
};
#endif

template <int lanes>
ETCH_INLINE Ints<lanes> bits_of(const Floats<lanes>& x) {
  Ints<lanes> out;
  ETCH_MEMCPY(&out, &x, sizeof out);
  return out;
}

template <int lanes>
ETCH_INLINE Floats<lanes> from_bits(const Ints<lanes>& x) {
  Floats<lanes> out;
  ETCH_MEMCPY(&out, &x, sizeof out);
  return out;
}

// `lanes` neighbouring integers.
template <int lanes>
ETCH_INLINE Ints<lanes> load_ints(const int32_t* p) {
  if constexpr (lanes == 1) {
    return {*p};
  } else {
    Ints<lanes> out;
    ETCH_MEMCPY(&out, p, sizeof out);
    return out;
  }
}

// Exact for |x| < 2^24.
template <int lanes>
ETCH_INLINE Floats<lanes> to_floats(const Ints<lanes>& x) {
  if constexpr (lanes == 1) {
    return {static_cast<float>(x.v)};
  } else {
#if defined(ETCH_NEON_FLOATS)
    Floats<lanes> out;
    __asm__("vcvt.f32.s32 %q0, %q1" : "=w"(out.v) : "w"(x.v));
    return out;
#elif defined(ETCH_HELIUM_FLOATS)
    return {vcvtq_f32_s32(reinterpret_cast<int32x4_t>(x.v))};
#elif defined(__GNUC__)
    return {__builtin_convertvector(x.v, typename Floats<lanes>::Vector)};
#endif
  }
}

// A vector of floats or doubles towards zero, for values that fit. On RISC-V from a neighbouring
// integer back where that is beyond x, and not by vfcvt.rtz: at some, QEMU 7.2 aborts.
#if defined(ETCH_RISCV_LANES)
template <class To, class From>
ETCH_INLINE To toward_zero(const From& x) {
#if defined(__OPTIMIZE__)
  const To near = __builtin_convertvector(__builtin_elementwise_rint(x), To);
  const From back = __builtin_convertvector(near, From);
  const auto above = (back > x) & (x > From{}), below = (back < x) & (x < From{});  // -1: yes
  return near + __builtin_convertvector(above, To) - __builtin_convertvector(below, To);
#else
  To out;
  for (size_t i = 0; i < sizeof out / sizeof out[0]; ++i) out[i] = static_cast<int32_t>(x[i]);
  return out;
#endif
}
#elif defined(__GNUC__)
template <class To, class From>
ETCH_INLINE To toward_zero(const From& x) {
  return __builtin_convertvector(x, To);
}
#endif

// Towards zero; |x| < 2^31.
template <int lanes>
ETCH_INLINE Ints<lanes> to_ints(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return {static_cast<int32_t>(x.v)};
  } else {
#if defined(ETCH_NEON_FLOATS)
    Ints<lanes> out;
    __asm__("vcvt.s32.f32 %q0, %q1" : "=w"(out.v) : "w"(x.v));
    return out;
#elif defined(ETCH_HELIUM_FLOATS)
    return {reinterpret_cast<typename Ints<lanes>::Vector>(vcvtq_s32_f32(x.v))};
#elif defined(__GNUC__)
    return {toward_zero<typename Ints<lanes>::Vector>(x.v)};
#endif
  }
}

template <int lanes>
ETCH_INLINE Floats<lanes> magnitudes(const Floats<lanes>& x) {
  return from_bits(Ints<lanes>{bits_of(x).v & 0x7fffffff});
}

template <int lanes>
ETCH_INLINE Floats<lanes> negated(const Floats<lanes>& x) {
  return from_bits(Ints<lanes>{bits_of(x).v ^ INT32_MIN});
}

// with_sign_of()
template <int lanes>
ETCH_INLINE Floats<lanes> signed_as(const Floats<lanes>& magnitude, const Floats<lanes>& sign) {
  return from_bits(
      Ints<lanes>{(bits_of(magnitude).v & 0x7fffffff) | (bits_of(sign).v & INT32_MIN)});
}

template <int lanes>
ETCH_INLINE Lanes<lanes> are_numbers(const Floats<lanes>& x) {
  return not_below(x, x);
}

// ---- fused multiply-add ----

#if defined(__GNUC__) && defined(__SSE2__)
// fma_software() for two lanes.
ETCH_INLINE __m128d fused_to_odd(__m128d a, __m128d b, __m128d addend) {
  const __m128d product = _mm_mul_pd(a, b);
  const __m128d sum = _mm_add_pd(product, addend);
  const __m128d addend_part = _mm_sub_pd(sum, product);
  const __m128d lost = _mm_add_pd(_mm_sub_pd(product, _mm_sub_pd(sum, addend_part)),
                                  _mm_sub_pd(addend, addend_part));
  const __m128d zero = _mm_setzero_pd();
  const __m128i inexact =
      _mm_castpd_si128(_mm_or_pd(_mm_cmplt_pd(lost, zero), _mm_cmplt_pd(zero, lost)));
  const __m128i bits = _mm_castpd_si128(sum);
  const __m128i one = _mm_set1_epi32(1);
  const __m128i low_one = _mm_srli_epi64(one, 32);
  const __m128i is_even = _mm_sub_epi64(_mm_and_si128(bits, low_one), low_one);
  // +1 where the lost part has the sign of the sum, else -1.
  const __m128i differ = _mm_srli_epi64(_mm_castpd_si128(_mm_xor_pd(sum, lost)), 63);
  const __m128i move = _mm_sub_epi64(low_one, _mm_add_epi64(differ, differ));
  return _mm_castsi128_pd(
      _mm_add_epi64(bits, _mm_and_si128(move, _mm_and_si128(inexact, is_even))));
}
#endif

// a * b + c as fma_exact() has it.
template <int lanes>
ETCH_INLINE Floats<lanes> fused(const Floats<lanes>& a, const Floats<lanes>& b,
                                const Floats<lanes>& c) {
  if constexpr (lanes == 1) {
    return {fma_exact(a.v, b.v, c.v)};
  } else {
#if defined(__GNUC__) && defined(__AVX512F__)
    if constexpr (lanes == 16) return {_mm512_fmadd_ps(a.v, b.v, c.v)};
#endif
#if defined(__GNUC__) && defined(__FMA__)
    if constexpr (lanes == 8) return {_mm256_fmadd_ps(a.v, b.v, c.v)};
    if constexpr (lanes == 4) return {_mm_fmadd_ps(a.v, b.v, c.v)};
#elif defined(__GNUC__) && defined(__SSE2__)
    if constexpr (lanes == 4) {
      const __m128d low = fused_to_odd(_mm_cvtps_pd(a.v), _mm_cvtps_pd(b.v), _mm_cvtps_pd(c.v));
      const __m128d high =
          fused_to_odd(_mm_cvtps_pd(_mm_movehl_ps(a.v, a.v)), _mm_cvtps_pd(_mm_movehl_ps(b.v, b.v)),
                       _mm_cvtps_pd(_mm_movehl_ps(c.v, c.v)));
      return {_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high))};
    }
#elif defined(__GNUC__) && defined(__aarch64__)
    if constexpr (lanes == 4) {
      Floats<4> out = c;
      __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(out.v) : "w"(a.v), "w"(b.v));
      return out;
    }
#elif defined(ETCH_HELIUM_FLOATS)
    if constexpr (lanes == kCheckedLanes) return {vfmaq_f32(c.v, a.v, b.v)};
#elif defined(ETCH_NEON_FLOATS)
    if constexpr (lanes == kCheckedLanes) return composed_step(a, b, c);
#elif defined(ETCH_RISCV_LANES)
    return {__builtin_elementwise_fma(a.v, b.v, c.v)};
#endif
    Floats<lanes / 2> x[2], y[2], z[2];
    ETCH_MEMCPY(x, &a, sizeof a);
    ETCH_MEMCPY(y, &b, sizeof b);
    ETCH_MEMCPY(z, &c, sizeof c);
    for (int i = 0; i < 2; ++i) z[i] = fused(x[i], y[i], z[i]);
    Floats<lanes> out;
    ETCH_MEMCPY(&out, z, sizeof out);
    return out;
  }
}

// fused_powers() of each lane, up to c[last]. Recursive, so that it is unrolled at every level of
// optimization.
template <size_t last, int lanes, size_t N>
ETCH_INLINE Floats<lanes> fused_powers_to(const float (&c)[N], const Floats<lanes>& x) {
  const Floats<lanes> own = all_lanes<lanes>(c[last]);
  if constexpr (last == 0) {
    return own;
  } else {
#if defined(ETCH_HELIUM_FLOATS)
    // A register of integers holds the coefficient for all lanes.
    if constexpr (lanes == kCheckedLanes)
      return {vfmasq_n_f32(fused_powers_to<last - 1>(c, x).v, x.v, c[last])};
#endif
    return fused(fused_powers_to<last - 1>(c, x), x, own);
  }
}
template <int lanes, size_t N>
ETCH_INLINE Floats<lanes> fused_powers(const float (&c)[N], const Floats<lanes>& x) {
  return fused_powers_to<N - 1>(c, x);
}

// x, x^2, x^4, x^8.
template <int lanes>
struct Powers {
  Floats<lanes> one, two, four, eight;
};

template <size_t half, int lanes>
ETCH_INLINE Floats<lanes> power_of(const Powers<lanes>& x) {
  static_assert(half <= 8, "more than 16 coefficients");
  return half == 1 ? x.one : (half == 2 ? x.two : (half == 4 ? x.four : x.eight));
}

static constexpr size_t largest_power_below(size_t n) {
  size_t power = 1;
  while (2 * power < n) power *= 2;
  return power;
}

// The sum of `count` terms from coefficient `first` on, over x^first: two halves, and so on.
template <size_t first, size_t count, int lanes, size_t N>
ETCH_INLINE Floats<lanes> sum_of_terms(const float (&coefficients)[N], const Powers<lanes>& x) {
  if constexpr (count == 1) {
    return all_lanes<lanes>(coefficients[first]);
  } else {
    constexpr size_t kHalf = largest_power_below(count);
    const Floats<lanes> low = sum_of_terms<first, kHalf>(coefficients, x);
    const Floats<lanes> high = sum_of_terms<first + kHalf, count - kHalf>(coefficients, x);
    return sum(low, product(high, power_of<kHalf>(x)));
  }
}

// coefficients[0] + coefficients[1] x + ... without fused steps, in the order of a tree, whose
// steps do not wait for each other: as fast as fused ones where there are such, and many times as
// fast where not.
template <int lanes, size_t N>
ETCH_INLINE Floats<lanes> plain_polynomial(const float (&coefficients)[N], const Floats<lanes>& x) {
  Powers<lanes> powers{x, x, x, x};
  if constexpr (N > 2) powers.two = product(x, x);
  if constexpr (N > 4) powers.four = product(powers.two, powers.two);
  if constexpr (N > 8) powers.eight = product(powers.four, powers.four);
  return sum_of_terms<0, N>(coefficients, powers);
}

// ---- roots ----

// sqrt_f32() of what is not below zero.
template <int lanes>
ETCH_INLINE Floats<lanes> positive_roots(const Floats<lanes>& x) {
#if defined(__GNUC__) && defined(__AVX512F__)
  if constexpr (lanes == 16) return {_mm512_mask_sqrt_ps(x.v, kAllLanes, x.v)};
#endif
#if defined(__GNUC__) && defined(__AVX__)
  if constexpr (lanes == 8) return {_mm256_sqrt_ps(x.v)};
#endif
#if defined(__GNUC__) && defined(__SSE2__)
  if constexpr (lanes == 4) return {_mm_sqrt_ps(x.v)};
#elif defined(__GNUC__) && defined(__aarch64__)
  Floats<lanes> out;
  __asm__("fsqrt %0.4s, %1.4s" : "=w"(out.v) : "w"(x.v));
  return out;
#elif defined(__wasm_simd128__)
  if constexpr (lanes == 4) return {wasm_f32x4_sqrt(x.v)};
#elif defined(ETCH_RISCV_LANES)
  return {__builtin_elementwise_sqrt(x.v)};
#else
  static_cast<void>(x);
#endif
}

// ---- rows ----

// The first n lanes; none for n <= 0.
template <int lanes>
ETCH_INLINE Lanes<lanes> are_first(ptrdiff_t n) {
  if constexpr (lanes == 1) {
    return {n > 0};
  } else {
#if defined(__GNUC__)
    typename Lanes<lanes>::Mask at;
    for (int i = 0; i < lanes; ++i) at[i] = i;
    return {at < static_cast<int32_t>(n)};
#endif
  }
}

// x in the first n lanes, `otherwise` in the others.
template <int lanes>
ETCH_INLINE Floats<lanes> first_lanes(const Floats<lanes>& x, ptrdiff_t n,
                                      const Floats<lanes>& otherwise) {
  return choose(are_first<lanes>(n), x, otherwise);
}

// The n <= lanes elements from p on, `step` apart; the rest is zero.
template <int lanes>
ETCH_INLINE Floats<lanes> load_some(const float* p, ptrdiff_t step, ptrdiff_t n) {
#if defined(__GNUC__) && defined(__AVX512F__)
  if constexpr (lanes == 16) {
    if (step == 1) return {_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1u), p)};
  }
#endif
#if defined(__GNUC__) && defined(__AVX__)
  if constexpr (lanes == 8) {
    if (step == 1) return {_mm256_maskload_ps(p, reinterpret_cast<__m256i>(are_first<8>(n).v))};
  }
#endif
#if defined(__GNUC__) && defined(__SSE2__)
  if constexpr (lanes == 4) {
    if (step == 1 && n < 4) {
      Floats<4> low = all_lanes<4>(0.0f);
      if ((n & 2) != 0) low.v = _mm_loadl_pi(low.v, reinterpret_cast<const __m64*>(p));
      if ((n & 1) == 0) return low;
      const __m128 last = _mm_load_ss(p + n - 1);
      return {n == 1 ? last : _mm_movelh_ps(low.v, last)};
    }
  }
#endif
#if defined(ETCH_ARM_LANES)
  if constexpr (lanes == 4) {
    if (step == 1) {
      if (n == 4) return load<4>(p);
      float32x4_t some = vdupq_n_f32(0.0f);
      if (n >= 2) some = vcombine_f32(vld1_f32(p), vdup_n_f32(0.0f));
      if (n == 3) some = vld1q_lane_f32(p + 2, some, 2);
      if (n == 1) some = vld1q_lane_f32(p, some, 0);
      Floats<4> out;
      ETCH_MEMCPY(&out, &some, sizeof out);
      return out;
    }
  }
#endif
#if defined(ETCH_HELIUM_FLOATS)
  if constexpr (lanes == kCheckedLanes) {
    if (step == 1) return {vldrwq_z_f32(p, vctp32q(static_cast<uint32_t>(n)))};
  }
#endif
  float each[static_cast<size_t>(lanes)] = {};
#if defined(ETCH_RISCV_LANES)
  const auto count = static_cast<size_t>(n);
  if (step == 1) __riscv_vse32_v_f32m4(each, __riscv_vle32_v_f32m4(p, count), count);
  if (step == 1) return load<lanes>(each);
#endif
  for (ptrdiff_t i = 0; i < n; ++i) each[i] = p[i * step];
  return load<lanes>(each);
}

// The first n <= lanes elements to p on. Not by masks where AVX has them for stores: they are slow.
template <int lanes>
ETCH_INLINE void store_some(float* p, const Floats<lanes>& x, ptrdiff_t n) {
#if defined(__GNUC__) && defined(__AVX512F__)
  if constexpr (lanes == 16) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1u), x.v);
    return;
  }
#endif
#if defined(__GNUC__) && defined(__SSE2__)
  if constexpr (lanes == 8) {
    if (n == 8) return store(p, x);
    Floats<4> half[2];
    ETCH_MEMCPY(half, &x, sizeof x);
    if (n >= 4) store(p, half[0]);
    store_some(n < 4 ? p : p + 4, n < 4 ? half[0] : half[1], n & 3);
  } else if constexpr (lanes == 4) {
    if (n == 4) return store(p, x);
    if ((n & 2) != 0) _mm_storel_pi(reinterpret_cast<__m64*>(p), x.v);
    if ((n & 1) != 0) _mm_store_ss(p + n - 1, n == 1 ? x.v : _mm_movehl_ps(x.v, x.v));
  }
#elif defined(ETCH_ARM_LANES)
  if constexpr (lanes == 4) {
    float32x4_t some;
    ETCH_MEMCPY(&some, &x, sizeof some);
    if (n == 4) return vst1q_f32(p, some);
    if (n >= 2) vst1_f32(p, vget_low_f32(some));
    if (n == 3) vst1q_lane_f32(p + 2, some, 2);
    if (n == 1) vst1q_lane_f32(p, some, 0);
  } else {
    if (n > 0) *p = x.v;
  }
#elif defined(ETCH_HELIUM_FLOATS)
  if constexpr (lanes == kCheckedLanes) {
    vstrwq_p_f32(p, x.v, vctp32q(static_cast<uint32_t>(n)));
  } else {
    if (n > 0) *p = x.v;
  }
#else
  float each[static_cast<size_t>(lanes)];
  store(each, x);
#if defined(ETCH_RISCV_LANES)
  const auto count = static_cast<size_t>(n);
  __riscv_vse32_v_f32m4(p, __riscv_vle32_v_f32m4(each, count), count);
#else
  for (ptrdiff_t i = 0; i < n; ++i) p[i] = each[i];
#endif
#endif
}

}  // namespace rt
}  // namespace etch
