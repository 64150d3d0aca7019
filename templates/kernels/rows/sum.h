// The sum of two quantized tensors with constant parameters, QLinearAdd of x86-64 with FMA
// (docs/spec/qlinear.md section 6.2): y = saturate(rne(fma(a, ratio_a, fma(b, ratio_b, fixed)))), a
// and b the logical integers. A step of its own walks over whole tensors; convolutions add their
// results this way before they store them. Sums that the compiler has not proved to fit int32
// (compiler/program/rounding_proof.h) are clamped to the output's type before they are rounded.
#pragma once

#include <cstddef>
#include <vector>

#include "templates/stage.h"

namespace etch {

struct SumFactors {
  float ratio_a = 1, ratio_b = 1, fixed = 0;
  int a_stored = 0, b_stored = 0, y_stored = 0;  // stored minus logical: 0, or 128 for int8
  bool clamp = false;                            // a sum may leave int32
};

// A logical value to the limits of its byte, before it is rounded; NaN becomes the least value.
template <class S>
typename S::F32 clamp_to_byte(S& s, const Name& name, const typename S::F32& value, int stored) {
  return s.clamp_f32(name, value, static_cast<float>(-stored), static_cast<float>(255 - stored));
}

namespace sum_detail {

template <class S>
typename S::F32 logical(S& s, const Name& name, typename S::I32 value, int stored) {
  if (stored != 0) s.add_i32(value, s.splat_i32(Name(name).at("off", 0), -stored));
  return s.to_f32(name, value);
}

}  // namespace sum_detail

// fma(b, ratio_b, fixed) of the four vectors of b: what sums with the same b have in common.
template <class S>
std::vector<typename S::F32> addend_of_bytes(S& s, const SumFactors& f,
                                             const typename S::Bytes& b_bytes) {
  const auto b = s.widen4("wide_b", b_bytes);
  const auto ratio_b = s.splat_f32("ratio_b", f.ratio_b);
  const auto fixed = s.splat_f32("fixed", f.fixed);
  std::vector<typename S::F32> out;
  for (int v = 0; v < 4; ++v) {
    const auto fb = sum_detail::logical(s, Name("b_real").at("v", v), s.part(b, v), f.b_stored);
    out.push_back(s.fma_f32(Name("inner").at("v", v), fb, ratio_b, fixed));
  }
  return out;
}

// The sum with such an addend.
template <class S>
typename S::Bytes sum_with_addend(S& s, const SumFactors& f, const typename S::Bytes& a_bytes,
                                  const std::vector<typename S::F32>& addend) {
  const auto a = s.widen4("wide_a", a_bytes);
  const auto ratio_a = s.splat_f32("ratio_a", f.ratio_a);
  std::vector<typename S::I32> q;
  for (int v = 0; v < 4; ++v) {
    const auto fa = sum_detail::logical(s, Name("a_real").at("v", v), s.part(a, v), f.a_stored);
    auto real =
        s.fma_f32(Name("real").at("v", v), fa, ratio_a, addend[static_cast<std::size_t>(v)]);
    if (f.clamp) real = clamp_to_byte(s, Name("inside").at("v", v), real, f.y_stored);
    q.push_back(s.round_i32(Name("sum").at("v", v), real));
  }
  return s.narrow4("total", q[0], q[1], q[2], q[3], f.y_stored);
}

// `name` tells the values of several sums in one scope apart: ("p", 0) makes "packed_p0".
template <class S>
typename S::Bytes sum_of_bytes(S& s, const SumFactors& f, const char* axis, int position,
                               const typename S::Bytes& a_bytes, const typename S::Bytes& b_bytes) {
  const auto named = [&](const char* stem) {
    return axis == nullptr ? Name(stem) : Name(stem).at(axis, position);
  };
  const auto a = s.widen4(named("wide_a"), a_bytes);
  const auto b = s.widen4(named("wide_b"), b_bytes);
  const auto ratio_a = s.splat_f32(named("ratio_a"), f.ratio_a);
  const auto ratio_b = s.splat_f32(named("ratio_b"), f.ratio_b);
  const auto fixed = s.splat_f32(named("fixed"), f.fixed);
  std::vector<typename S::I32> q;
  for (int v = 0; v < 4; ++v) {
    const auto fb = sum_detail::logical(s, named("b_real").at("v", v), s.part(b, v), f.b_stored);
    const auto fa = sum_detail::logical(s, named("a_real").at("v", v), s.part(a, v), f.a_stored);
    const auto inner = s.fma_f32(named("inner").at("v", v), fb, ratio_b, fixed);
    auto real = s.fma_f32(named("real").at("v", v), fa, ratio_a, inner);
    if (f.clamp) real = clamp_to_byte(s, named("inside").at("v", v), real, f.y_stored);
    q.push_back(s.round_i32(named("sum").at("v", v), real));
  }
  return s.narrow4(named("total"), q[0], q[1], q[2], q[3], f.y_stored);
}

}  // namespace etch
