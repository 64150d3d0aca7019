// The intrinsics that vocabularies and the runtime use on x86, and those of the runtime on Arm,
// RISC-V and WebAssembly; nothing elsewhere. All of
// <immintrin.h> takes g++ 12 half a second of every file, much of it for instructions that nothing
// here uses: where compilers are known, only the headers concerned are included, in its order. Each
// of them asks whether it comes from <immintrin.h>, so that file's mark is set meanwhile; it can
// still be included later. ETCH_ALL_INTRINSICS asks for the whole file, and other compilers always
// get it.
#pragma once

#if defined(__SSE2__)
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12 && !defined(ETCH_ALL_INTRINSICS) && \
    !defined(_IMMINTRIN_H_INCLUDED)
#define ETCH_FEW_INTRINSICS 1
#else
#define ETCH_FEW_INTRINSICS 0
#endif

#if !ETCH_FEW_INTRINSICS
#include <immintrin.h>
#else
#define _IMMINTRIN_H_INCLUDED
// Each needs those before it:
// clang-format off
#include <smmintrin.h>
#include <wmmintrin.h>
#if defined(__AVX__)
#include <avxintrin.h>
#endif
#if defined(__AVXVNNI__)
#include <avxvnniintrin.h>
#endif
#if defined(__AVX2__)
#include <avx2intrin.h>
#endif
#if defined(__AVX512F__)
#include <avx512fintrin.h>
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VNNI__)
typedef unsigned int __mmask32;  // avx512bwintrin.h expects it from avx512vlintrin.h
#include <avx512bwintrin.h>
#include <avx512vnniintrin.h>
#endif
#if defined(__FMA__)
#include <fmaintrin.h>
#endif
#if defined(__F16C__)
#include <f16cintrin.h>
#endif
// clang-format on
#undef _IMMINTRIN_H_INCLUDED
#endif
#elif defined(__GNUC__) && defined(__ARM_NEON)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__GNUC__) && defined(__riscv_v)
#include <riscv_vector.h>
#elif defined(__GNUC__) && defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#endif
