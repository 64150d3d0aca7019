// Descriptors of the functions of runtime/etch_byte_product.h and runtime/etch_quantize_bits.h; see
// templates/external.h.
#pragma once

#include "runtime/etch_byte_product.h"
#include "runtime/etch_quantize_bits.h"
#include "templates/external.h"

namespace etch::external {

struct MultiplyBytes : RuntimeFunction {
  MultiplyBytes() : RuntimeFunction("multiply_bytes", "etch_byte_product.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* a, const std::uint8_t* b, int b_step, std::uint8_t* y, int n,
                  int a_zero, int b_zero, int factor, int offset_low, int offset_high, int shift,
                  int low, int high) const {
    rt::multiply_bytes(a, b, b_step, y, n, a_zero, b_zero, factor, offset_low, offset_high, shift,
                       low, high);
  }
  auto spans(const std::uint8_t* a, const std::uint8_t* b, int b_step, std::uint8_t* y, int n, int,
             int, int, int, int, int, int, int) const {
    return spans_of(span(a, {}, n), span(b, {{n, b_step}}), span(y, {}, n));
  }
};

struct MultiplyBytesNarrow : RuntimeFunction {
  explicit MultiplyBytesNarrow(bool to_even)
      : RuntimeFunction(to_even ? "multiply_bytes_to_even" : "multiply_bytes_narrow",
                        "etch_byte_product.h", FloatUse::kNone),
        to_even_(to_even) {}
  void operator()(const std::uint8_t* a, const std::uint8_t* b, int b_step, std::uint8_t* y, int n,
                  int a_zero, int b_zero, int factor, int offset, int bits, int low,
                  int high) const {
    (to_even_ ? rt::multiply_bytes_to_even : rt::multiply_bytes_narrow)(
        a, b, b_step, y, n, a_zero, b_zero, factor, offset, bits, low, high);
  }
  auto spans(const std::uint8_t* a, const std::uint8_t* b, int b_step, std::uint8_t* y, int n, int,
             int, int, int, int, int, int) const {
    return spans_of(span(a, {}, n), span(b, {{n, b_step}}), span(y, {}, n));
  }

 private:
  bool to_even_;
};

struct QuantizeBits : RuntimeFunction {
  QuantizeBits() : RuntimeFunction("quantize_bits", "etch_quantize_bits.h", FloatUse::kUsed) {}
  void operator()(const float* x, std::uint8_t* y, int n, int step, float scale, int reciprocal,
                  int digits, int low, int high, int zero_point) const {
    rt::quantize_bits(x, y, n, step, scale, reciprocal, digits, low, high, zero_point);
  }
  auto spans(const float* x, std::uint8_t* y, int n, int step, float, int, int, int, int,
             int) const {
    return spans_of(span(x, {}, n), span(y, {{n, step}}));
  }
};

}  // namespace etch::external
