// The product of two quantized tensors with constant parameters, QLinearMul of x86-64
// (docs/spec/qlinear.md section 6.3): y = saturate(rne(fl(fl(fl((a - a_zero) * (b - b_zero)) *
// scale) + y_zero))). Differences of bytes and their product have at most 17 bits, so floats hold
// them exactly. Lowering has proved that no result leaves int32 (product_may_leave_int32()).
#pragma once

#include <vector>

#include "templates/stage.h"

namespace etch {

struct ProductFactors {
  float scale = 1;             // fl(fl(a_scale * b_scale) / y_scale)
  int a_zero = 0, b_zero = 0;  // as stored
  float y_zero = 0;            // logical
  int y_stored = 0;            // stored minus logical: 0, or 128 for int8
};

template <class S>
typename S::Bytes product_of_bytes(S& s, const ProductFactors& f, const typename S::Bytes& a_bytes,
                                   const typename S::Bytes& b_bytes) {
  const auto a = s.widen4("wide_a", a_bytes);
  const auto b = s.widen4("wide_b", b_bytes);
  const auto a_zero = s.splat_i32("a_zero", -f.a_zero);
  const auto b_zero = s.splat_i32("b_zero", -f.b_zero);
  const auto scale = s.splat_f32("scale", f.scale);
  const auto y_zero = s.splat_f32("y_zero", f.y_zero);
  const auto centred = [&](const Name& name, auto value, const auto& zero) {
    s.add_i32(value, zero);
    return s.to_f32(name, value);
  };
  std::vector<typename S::I32> q;
  for (int v = 0; v < 4; ++v) {
    const auto fb = centred(Name("b_real").at("v", v), s.part(b, v), b_zero);
    const auto fa = centred(Name("a_real").at("v", v), s.part(a, v), a_zero);
    const auto exact = s.mul_f32(Name("exact").at("v", v), fa, fb);
    const auto scaled = s.mul_f32(Name("scaled").at("v", v), exact, scale);
    q.push_back(s.round_i32(Name("product").at("v", v),
                            s.add_f32(Name("shifted").at("v", v), scaled, y_zero)));
  }
  return s.narrow4("total", q[0], q[1], q[2], q[3], f.y_stored);
}

}  // namespace etch
