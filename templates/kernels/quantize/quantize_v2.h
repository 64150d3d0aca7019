// TensorFlow's QuantizeV2 and Dequantize (docs/spec/quantize_v2.md). The tensor may consist of
// slices that differ in their range.
//
// The vector kernel is for 8-bit outputs and ranges known when compiling. It clamps after scaling
// instead of before: scaling and rounding never reverse an order, and lowering has checked that the
// range's ends become the least and the greatest value, so the result is the same. Dequantize has
// one for the same cases, without the runtime's flushing of subnormal numbers: lowering has checked
// that no byte needs it.
#pragma once

#include <cstdint>
#include <vector>

#include "templates/external/convert.h"
#include "templates/kernels/arguments.h"
#include "templates/kernels/rows/elementwise.h"

namespace etch {

enum class RangeRounding {
  kHalfAway,
  kHalfEven,
  kHalfUp,  // trunc(v + 0.5), v >= 0
};

// Operands: 0 = x, 1 = y; in a nest x is operand 0, y the last.
struct SlicedPlan {
  Nest nest;                // of one slice
  int slices = 1;           // loops around the nest ...
  std::int64_t x_step = 0;  // ... with these distances in elements
  std::int64_t y_step = 0;
  bool along = false;  // slices run along the run instead: operand 1 of the nest counts
                       // them
  bool has_offset = false;
  std::vector<float> scale;   // per slice; constant array "scale" unless there is one
  std::vector<float> offset;  // per slice too; empty without
};

// stored y = narrow(round(clamp((x + offset) * scale, low, high) + after)) + zero_point
struct QuantizeV2Plan : SlicedPlan {
  float low = 0, high = 255;
  float after = 0;
  RangeRounding rounding = RangeRounding::kHalfAway;
  int zero_point = 0;
};

// The constant array for values per slice: with `along` one after the other and a vector's worth of
// zeros after them, else each filling a vector.
inline std::vector<float> slice_vectors(const std::vector<float>& values, bool along, int lanes) {
  std::vector<float> out;
  for (const float value : values) {
    out.insert(out.end(), static_cast<std::size_t>(along ? 1 : lanes), value);
  }
  if (along) out.insert(out.end(), static_cast<std::size_t>(lanes), 0.0F);
  return out;
}

namespace quantize_v2_detail {

// The value of `values` for vector v of the chunk at `at`, in slice `slice`.
template <class S>
typename S::F32 of_slice(S& s, const char* name, const std::vector<float>& values,
                         const SlicedPlan& plan, const typename S::Index& slice,
                         const nest_detail::At<S>& at, int v) {
  const int lanes = s.isa().lanes;
  if (values.size() == 1) return s.splat_f32(Name(name).at("v", v), values[0]);
  const auto array = s.template constant<const float>(name);
  if (plan.along) return s.load_f32(Name(name).at("v", v), array + at.i[1] + v * lanes);
  return s.load_f32(Name(name).at("v", v), array + slice * lanes);
}

template <class S>
typename S::I32 round(S& s, int v, const typename S::F32& inside, const QuantizeV2Plan& plan) {
  const Name name = Name("q").at("v", v);
  if (plan.rounding == RangeRounding::kHalfEven) return s.round_i32(name, inside);
  if (plan.rounding == RangeRounding::kHalfUp) {
    const auto up =
        s.add_f32(Name("up").at("v", v), inside, s.splat_f32(Name("half").at("v", v), 0.5F));
    return s.trunc_i32(name, up);
  }
  if (plan.after == 0.0F) return s.round_away_i32(name, inside);
  const auto after = s.splat_f32(Name("after").at("v", v), plan.after);
  return s.round_away_i32(name, s.add_f32(Name("centred").at("v", v), inside, after));
}

}  // namespace quantize_v2_detail

template <class S>
void quantize_v2_kernel(S& s, const QuantizeV2Plan& plan) {
  using Index = typename S::Index;
  const int lanes = s.isa().lanes;
  const auto body = [&](const Index& slice, const nest_detail::At<S>& at, int n) {
    const auto x = s.template operand<const float>(0) + slice * plan.x_step + at.i[0];
    const auto y =
        s.template operand<std::uint8_t>(1) + slice * plan.y_step + at.i[kNestOperands - 1];
    std::vector<typename S::I32> q;
    for (int v = 0; v < 4; ++v) {
      const int left = n - v * lanes;
      if (left <= 0) {
        q.push_back(q.back());
        continue;
      }
      auto real = left >= lanes ? s.load_f32(Name("x").at("v", v), x + v * lanes)
                                : s.load_f32_n(Name("x").at("v", v), x + v * lanes, left);
      if (plan.has_offset) {
        const auto offset =
            quantize_v2_detail::of_slice(s, "offset", plan.offset, plan, slice, at, v);
        s.add_into(real, offset);
      }
      const auto scale = quantize_v2_detail::of_slice(s, "scale", plan.scale, plan, slice, at, v);
      const auto scaled = s.mul_f32(Name("scaled").at("v", v), real, scale);
      const auto inside = s.clamp_f32(Name("inside").at("v", v), scaled, plan.low, plan.high);
      q.push_back(quantize_v2_detail::round(s, v, inside, plan));
    }
    const auto packed = s.narrow4("packed", q[0], q[1], q[2], q[3], plan.zero_point);
    nest_detail::store(s, plan.nest, y, s.arrange1("bytes", packed), n);
  };
  s.loop("slice", plan.slices, [&](const Index& slice) {
    nest_detail::chunks(s, plan.nest, 4 * lanes,
                        [&](const nest_detail::At<S>& at, int n) { body(slice, at, n); });
  });
}

// y = (stored x + shift) * scale + offset, product and sum each rounded. out_step must be 1.
struct DequantizeV2Plan : SlicedPlan {
  int shift = 0;
};

template <class S>
void dequantize_v2_kernel(S& s, const DequantizeV2Plan& plan) {
  using Index = typename S::Index;
  using quantize_v2_detail::of_slice;
  const int lanes = s.isa().lanes;
  const auto body = [&](const Index& slice, const nest_detail::At<S>& at, int n) {
    const auto x = s.template operand<const std::uint8_t>(0) + slice * plan.x_step + at.i[0];
    const auto y = s.template operand<float>(1) + slice * plan.y_step + at.i[kNestOperands - 1];
    auto q = n == lanes ? s.load_u8("q", x) : s.load_u8_n("q", x, n);
    if (plan.shift != 0) s.add_i32(q, s.splat_i32("shift", plan.shift));
    const auto scale = of_slice(s, "scale", plan.scale, plan, slice, at, 0);
    auto real = s.mul_f32("real", s.to_f32("steps", q), scale);
    if (plan.has_offset) s.add_into(real, of_slice(s, "offset", plan.offset, plan, slice, at, 0));
    if (n == lanes) {
      s.store_f32(y, real);
    } else {
      s.store_f32_n(y, real, n);
    }
  };
  s.loop("slice", plan.slices, [&](const Index& slice) {
    nest_detail::chunks(s, plan.nest, lanes,
                        [&](const nest_detail::At<S>& at, int n) { body(slice, at, n); });
  });
}

// Whatever the types and ranges: rows are handed to the runtime. For QuantizeV2 x is float32, for
// Dequantize y; the other side is stored as `quantized`.
enum class RangeElement { kByte, kS16, kU16, kS32 };

struct RangePlan {
  Argument x, min, max;
  int y = 0;     // operand
  RowNest rows;  // over x, min, max (which move together) and y
  RangeElement quantized = RangeElement::kByte;
  int mode = 0;  // rt::kMinCombined, rt::kMinFirst, rt::kScaled
  int half_even = 0;
  int least = 0, most = 255;
  float ensure_minimum_range = 0.01F;
};

namespace quantize_v2_detail {

inline int row_step(const RangePlan& plan, std::size_t operand) {
  return static_cast<int>(plan.rows.step[operand]);
}

template <class Element, class S>
void quantize_rows(S& s, const RangePlan& plan) {
  walk_rows(s, plan.rows, [&](const RowPlace<S>& at) {
    const auto x = pointer_to<float>(s, plan.x) + at[0];
    const auto min = pointer_to<float>(s, plan.min) + at[1];
    const auto max = pointer_to<float>(s, plan.max) + at[2];
    const auto y = s.template operand<Element>(plan.y) + at[3];
    s.call(external::QuantizeV2<Element>{}, x, row_step(plan, 0), min, max, row_step(plan, 1), y,
           row_step(plan, 3), plan.rows.n, plan.mode, plan.half_even, plan.least, plan.most,
           plan.ensure_minimum_range);
  });
}

template <class Element, class S>
void dequantize_rows(S& s, const RangePlan& plan) {
  walk_rows(s, plan.rows, [&](const RowPlace<S>& at) {
    const auto x = pointer_to<Element>(s, plan.x) + at[0];
    const auto min = pointer_to<float>(s, plan.min) + at[1];
    const auto max = pointer_to<float>(s, plan.max) + at[2];
    const auto y = s.template operand<float>(plan.y) + at[3];
    s.call(external::DequantizeV2<Element>{}, x, row_step(plan, 0), min, max, row_step(plan, 1), y,
           row_step(plan, 3), plan.rows.n, static_cast<int>(plan.x.stored.flip),
           static_cast<int>(plan.x.stored.offset), plan.mode, plan.least, plan.most);
  });
}

}  // namespace quantize_v2_detail

template <class S>
void quantize_range_kernel(S& s, const RangePlan& plan) {
  using namespace quantize_v2_detail;
  if (plan.quantized == RangeElement::kByte) quantize_rows<std::uint8_t>(s, plan);
  if (plan.quantized == RangeElement::kS16) quantize_rows<std::int16_t>(s, plan);
  if (plan.quantized == RangeElement::kU16) quantize_rows<std::uint16_t>(s, plan);
  if (plan.quantized == RangeElement::kS32) quantize_rows<std::int32_t>(s, plan);
}

template <class S>
void dequantize_range_kernel(S& s, const RangePlan& plan) {
  using namespace quantize_v2_detail;
  if (plan.quantized == RangeElement::kByte) dequantize_rows<std::uint8_t>(s, plan);
  if (plan.quantized == RangeElement::kS16) dequantize_rows<std::int16_t>(s, plan);
  if (plan.quantized == RangeElement::kU16) dequantize_rows<std::uint16_t>(s, plan);
  if (plan.quantized == RangeElement::kS32) dequantize_rows<std::int32_t>(s, plan);
}

// output_min (end 0) or output_max (end 1) of `slices` ranges, from min and max of `range`.
struct RangeEndPlan {
  RangePlan range;
  int slices = 1;
  int end = 0;
};

template <class S>
void range_end_kernel(S& s, const RangeEndPlan& plan) {
  const RangePlan& range = plan.range;
  s.call(external::QuantizeV2End{}, pointer_to<float>(s, range.min),
         pointer_to<float>(s, range.max), s.template operand<float>(range.y), plan.slices, plan.end,
         range.mode, range.least, range.most, range.ensure_minimum_range);
}

}  // namespace etch
