// Descriptors of the functions of runtime/etch_convert.h and etch_quantize.h; see
// templates/external.h.
#pragma once

#include "runtime/etch_convert.h"
#include "runtime/etch_quantize.h"
#include "templates/external.h"

namespace etch::external {

template <class To, class From, class Kept>
struct Cast : RuntimeFunction {
  Cast()
      : RuntimeFunction(instance_name<Cast, To>("cast"), "etch_convert.h",
                        floats_among<To, From>()) {}
  void operator()(const From* x, std::ptrdiff_t step, rt::Stored x_as, Kept* y, rt::Stored y_as,
                  std::ptrdiff_t n) const {
    rt::cast<To>(x, step, x_as, y, y_as, n);
  }
  auto spans(const From* x, std::ptrdiff_t step, rt::Stored, Kept* y, rt::Stored,
             std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, step}}), span(y, {}, n));
  }
};

template <class T, bool by_factors>
struct QuantizeRows : RuntimeFunction {
  QuantizeRows()
      : RuntimeFunction(by_factors ? "quantize_row_by_factors" : "quantize_row", "etch_convert.h",
                        FloatUse::kUsed) {}
  void operator()(const float* x, std::ptrdiff_t x_step, const float* scale,
                  std::ptrdiff_t scale_step, const T* zero, std::ptrdiff_t zero_step,
                  rt::Stored zero_as, T* y, rt::Stored y_as, rt::Range range,
                  std::ptrdiff_t n) const {
    const auto row = by_factors ? rt::quantize_row_by_factors<T, T> : rt::quantize_row<T, T>;
    row(x, x_step, scale, scale_step, zero, zero_step, zero_as, y, y_as, range, n);
  }
  auto spans(const float* x, std::ptrdiff_t x_step, const float* scale, std::ptrdiff_t scale_step,
             const T* zero, std::ptrdiff_t zero_step, rt::Stored, T* y, rt::Stored, rt::Range,
             std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, x_step}}), span(scale, {{n, scale_step}}),
                    span(zero, {{n, zero_step}}), span(y, {}, n));
  }
};

template <class T>
using QuantizeRow = QuantizeRows<T, false>;
template <class T>
using QuantizeRowByFactors = QuantizeRows<T, true>;

template <class T>
struct DequantizeRow : RuntimeFunction {
  DequantizeRow() : RuntimeFunction("dequantize_row", "etch_convert.h", FloatUse::kUsed) {}
  void operator()(const T* x, std::ptrdiff_t x_step, rt::Stored x_as, const float* scale,
                  std::ptrdiff_t scale_step, const T* zero, std::ptrdiff_t zero_step,
                  rt::Stored zero_as, float* y, std::ptrdiff_t n) const {
    rt::dequantize_row(x, x_step, x_as, scale, scale_step, zero, zero_step, zero_as, y, n);
  }
  auto spans(const T* x, std::ptrdiff_t x_step, rt::Stored, const float* scale,
             std::ptrdiff_t scale_step, const T* zero, std::ptrdiff_t zero_step, rt::Stored,
             float* y, std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, x_step}}), span(scale, {{n, scale_step}}),
                    span(zero, {{n, zero_step}}), span(y, {}, n));
  }
};

// QLinearAdd and QLinearMul with all parameters in memory.
template <bool adds>
struct QLinearRows : RuntimeFunction {
  using Byte = std::uint8_t;
  QLinearRows()
      : RuntimeFunction(adds ? "qlinear_add" : "qlinear_mul", "etch_convert.h", FloatUse::kUsed) {}
  template <class... Args>
  void operator()(const Args&... args) const {
    if constexpr (adds) {
      rt::qlinear_add(args...);
    } else {
      rt::qlinear_mul(args...);
    }
  }
  auto spans(const Byte* a, std::ptrdiff_t a_step, rt::Stored, const float* a_scale,
             const Byte* a_zero, rt::Stored, const Byte* b, std::ptrdiff_t b_step, rt::Stored,
             const float* b_scale, const Byte* b_zero, rt::Stored, const float* c_scale,
             const Byte* c_zero, rt::Stored, Byte* y, rt::Stored, rt::Range,
             std::ptrdiff_t n) const {
    return spans_of(span(a, {{n, a_step}}), span(a_scale, {}), span(a_zero, {}),
                    span(b, {{n, b_step}}), span(b_scale, {}), span(b_zero, {}), span(c_scale, {}),
                    span(c_zero, {}), span(y, {}, n));
  }
};

struct DynamicRange : RuntimeFunction {
  DynamicRange() : RuntimeFunction("dynamic_range", "etch_convert.h", FloatUse::kUsed) {}
  void operator()(const float* x, float* scale, std::uint8_t* zero, std::ptrdiff_t n) const {
    rt::dynamic_range(x, scale, zero, n);
  }
  auto spans(const float* x, float* scale, std::uint8_t* zero, std::ptrdiff_t n) const {
    return spans_of(span(x, {}, n), span(scale, {}), span(zero, {}));
  }
};

template <class T>
struct QuantizeV2 : RuntimeFunction {
  QuantizeV2() : RuntimeFunction("quantize_v2", "etch_quantize.h", FloatUse::kUsed) {}
  void operator()(const float* x, int x_step, const float* min, const float* max, int range_step,
                  T* y, int y_step, int n, int mode, int half_even, int least, int most,
                  float ensure_minimum_range) const {
    rt::quantize_v2(x, x_step, min, max, range_step, y, y_step, n, mode, half_even, least, most,
                    ensure_minimum_range);
  }
  auto spans(const float* x, int x_step, const float* min, const float* max, int range_step, T* y,
             int y_step, int n, int, int, int, int, float) const {
    return spans_of(span(x, {{n, x_step}}), span(min, {{n, range_step}}),
                    span(max, {{n, range_step}}), span(y, {{n, y_step}}));
  }
};

template <class T>
struct DequantizeV2 : RuntimeFunction {
  DequantizeV2() : RuntimeFunction("dequantize_v2", "etch_quantize.h", FloatUse::kUsed) {}
  void operator()(const T* x, int x_step, const float* min, const float* max, int range_step,
                  float* y, int y_step, int n, int flip, int offset, int mode, int least,
                  int most) const {
    rt::dequantize_v2(x, x_step, min, max, range_step, y, y_step, n, flip, offset, mode, least,
                      most);
  }
  auto spans(const T* x, int x_step, const float* min, const float* max, int range_step, float* y,
             int y_step, int n, int, int, int, int, int) const {
    return spans_of(span(x, {{n, x_step}}), span(min, {{n, range_step}}),
                    span(max, {{n, range_step}}), span(y, {{n, y_step}}));
  }
};

struct QuantizeV2End : RuntimeFunction {
  QuantizeV2End() : RuntimeFunction("quantize_v2_end", "etch_quantize.h", FloatUse::kUsed) {}
  void operator()(const float* min, const float* max, float* out, int slices, int end, int mode,
                  int least, int most, float ensure_minimum_range) const {
    rt::quantize_v2_end(min, max, out, slices, end, mode, least, most, ensure_minimum_range);
  }
  auto spans(const float* min, const float* max, float* out, int slices, int, int, int, int,
             float) const {
    return spans_of(span(min, {}, slices), span(max, {}, slices), span(out, {}, slices));
  }
};

}  // namespace etch::external
