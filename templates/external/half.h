// Descriptors of the functions of runtime/etch_half.h; see templates/external.h.
#pragma once

#include <type_traits>

#include "runtime/etch_half.h"
#include "templates/external.h"

namespace etch::external {

// Which conversion: float16 or bfloat16 to float and back, float64 to float and back.
enum class OtherFloat { kHalf, kBfloat, kDouble };

constexpr std::string_view other_float_name(OtherFloat form, bool widens) {
  switch (form) {
    case OtherFloat::kHalf:
      return widens ? "widen_half" : "narrow_half";
    case OtherFloat::kBfloat:
      return widens ? "widen_bfloat" : "narrow_bfloat";
    default:
      return widens ? "float_of_double" : "double_of_float";
  }
}

template <OtherFloat form>
using OtherElement = std::conditional_t<form == OtherFloat::kDouble, double, std::uint16_t>;

template <OtherFloat form>
struct ToFloat : RuntimeFunction {
  using From = OtherElement<form>;
  ToFloat() : RuntimeFunction(other_float_name(form, true), "etch_half.h", FloatUse::kUsed) {}
  void operator()(const From* x, std::ptrdiff_t step, float* y, std::ptrdiff_t n) const {
    if constexpr (form == OtherFloat::kHalf) {
      rt::widen_half(x, step, y, n);
    } else if constexpr (form == OtherFloat::kBfloat) {
      rt::widen_bfloat(x, step, y, n);
    } else {
      rt::float_of_double(x, step, y, n);
    }
  }
  auto spans(const From* x, std::ptrdiff_t step, const float* y, std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, step}}), span(y, {}, n));
  }
};

template <OtherFloat form>
struct FromFloat : RuntimeFunction {
  using To = OtherElement<form>;
  FromFloat() : RuntimeFunction(other_float_name(form, false), "etch_half.h", FloatUse::kUsed) {}
  void operator()(const float* x, std::ptrdiff_t step, To* y, std::ptrdiff_t n) const {
    if constexpr (form == OtherFloat::kHalf) {
      rt::narrow_half(x, step, y, n);
    } else if constexpr (form == OtherFloat::kBfloat) {
      rt::narrow_bfloat(x, step, y, n);
    } else {
      rt::double_of_float(x, step, y, n);
    }
  }
  auto spans(const float* x, std::ptrdiff_t step, const To* y, std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, step}}), span(y, {}, n));
  }
};

}  // namespace etch::external
