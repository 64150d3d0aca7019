// Descriptors of the functions of runtime/etch_bits.h, etch_elementwise.h, etch_extreme.h,
// etch_functions.h, etch_integer_division.h, etch_reduce.h, etch_rows.h and etch_trigonometry.h;
// see templates/external.h.
#pragma once

#include "runtime/etch_bits.h"
#include "runtime/etch_byte_division.h"
#include "runtime/etch_elementwise.h"
#include "runtime/etch_extreme.h"
#include "runtime/etch_functions.h"
#include "runtime/etch_integer_division.h"
#include "runtime/etch_reduce.h"
#include "runtime/etch_rows.h"
#include "runtime/etch_trigonometry_lanes.h"
#include "templates/external.h"

namespace etch {

#define ETCH_OPERATION(id) ETCH_RUNTIME_NAME(rt::id, "rt::" #id)
ETCH_OPERATION(Add);
ETCH_OPERATION(Sub);
ETCH_OPERATION(Mul);
ETCH_OPERATION(Div);
ETCH_OPERATION(DivByDoubles);
ETCH_OPERATION(Max);
ETCH_OPERATION(Min);
ETCH_OPERATION(Mod);
ETCH_OPERATION(Remainder);
ETCH_OPERATION(TruncatedMod);
ETCH_OPERATION(BitAnd);
ETCH_OPERATION(BitOr);
ETCH_OPERATION(BitXor);
ETCH_OPERATION(ShiftLeft);
ETCH_OPERATION(ShiftRight);
ETCH_OPERATION(Relu);
ETCH_OPERATION(LeakyRelu);
ETCH_OPERATION(Sigmoid);
ETCH_OPERATION(RoundEven);
ETCH_OPERATION(AtLeast);
ETCH_OPERATION(AtMost);
ETCH_OPERATION(Mean);
ETCH_OPERATION(Sum);
ETCH_OPERATION(Product);
ETCH_OPERATION(Largest);
ETCH_OPERATION(Smallest);
ETCH_OPERATION(Above);
ETCH_OPERATION(Below);
#define ETCH_FUNCTION(id) ETCH_OPERATION(id);
#include "templates/kernels/rows/functions.def"
#undef ETCH_FUNCTION
#undef ETCH_OPERATION

namespace external {

template <class Operation, class T>
struct Combine : RuntimeFunction {
  static constexpr bool kIsRemainder = std::is_same_v<Operation, rt::Remainder>;
  static constexpr bool kByDoubles = std::is_same_v<Operation, rt::DivByDoubles>;
  Combine()
      : RuntimeFunction(instance_name<Combine, Operation>("combine"),
                        kIsRemainder ? "etch_functions.h"
                        : kByDoubles ? "etch_integer_division.h"
                                     : "etch_elementwise.h",
                        kByDoubles ? FloatUse::kUsed : floats_among<T>()) {}
  void operator()(const T* a, std::ptrdiff_t a_step, const T* b, std::ptrdiff_t b_step, T* y,
                  std::ptrdiff_t n) const {
    rt::combine<Operation>(a, a_step, b, b_step, y, n);
  }
  auto spans(const T* a, std::ptrdiff_t a_step, const T* b, std::ptrdiff_t b_step, T* y,
             std::ptrdiff_t n) const {
    return spans_of(span(a, {{n, a_step}}), span(b, {{n, b_step}}), span(y, {}, n));
  }
};

// The same of bits.
template <class Operation, class T>
struct CombineBits : RuntimeFunction {
  CombineBits()
      : RuntimeFunction(instance_name<CombineBits, Operation>("combine"), "etch_bits.h",
                        FloatUse::kNone) {}
  void operator()(const T* a, std::ptrdiff_t a_step, const T* b, std::ptrdiff_t b_step, T* y,
                  std::ptrdiff_t n) const {
    rt::combine<Operation>(a, a_step, b, b_step, y, n);
  }
  auto spans(const T* a, std::ptrdiff_t a_step, const T* b, std::ptrdiff_t b_step, T* y,
             std::ptrdiff_t n) const {
    return spans_of(span(a, {{n, a_step}}), span(b, {{n, b_step}}), span(y, {}, n));
  }
};

// The same of 8-bit integers as they are kept.
template <class Operation>
struct CombineBytes : RuntimeFunction {
  static constexpr bool kDivides = std::is_same_v<Operation, rt::Div> ||
                                   std::is_same_v<Operation, rt::Mod> ||
                                   std::is_same_v<Operation, rt::TruncatedMod>;
  CombineBytes()
      : RuntimeFunction(instance_name<CombineBytes, Operation>("combine_bytes"),
                        kDivides ? "etch_byte_division.h" : "etch_byte_arithmetic.h",
                        FloatUse::kNone) {}
  void operator()(const std::uint8_t* a, std::ptrdiff_t a_step, rt::Stored a_as,
                  const std::uint8_t* b, std::ptrdiff_t b_step, rt::Stored b_as, std::uint8_t* y,
                  rt::Stored y_as, std::ptrdiff_t n) const {
    rt::combine_bytes<Operation>(a, a_step, a_as, b, b_step, b_as, y, y_as, n);
  }
  auto spans(const std::uint8_t* a, std::ptrdiff_t a_step, rt::Stored, const std::uint8_t* b,
             std::ptrdiff_t b_step, rt::Stored, std::uint8_t* y, rt::Stored,
             std::ptrdiff_t n) const {
    return spans_of(span(a, {{n, a_step}}), span(b, {{n, b_step}}), span(y, {}, n));
  }
};

template <class Operation, class T>
struct Map : RuntimeFunction {
  Map()
      : RuntimeFunction(instance_name<Map, Operation>("map"), "etch_elementwise.h",
                        floats_among<T>()) {}
  template <class Parameter>
  void operator()(const T* x, std::ptrdiff_t step, T* y, std::ptrdiff_t n,
                  Parameter parameter) const {
    rt::map<Operation>(x, step, y, n, parameter);
  }
  template <class Parameter>
  auto spans(const T* x, std::ptrdiff_t step, T* y, std::ptrdiff_t n, Parameter) const {
    return spans_of(span(x, {{n, step}}), span(y, {}, n));
  }
};

template <class T>
struct Clip : RuntimeFunction {
  Clip() : RuntimeFunction("clip", "etch_elementwise.h", floats_among<T>()) {}
  template <class Limit>
  void operator()(const T* x, std::ptrdiff_t step, T* y, std::ptrdiff_t n, Limit low,
                  Limit high) const {
    rt::clip(x, step, y, n, low, high);
  }
  template <class Limit>
  auto spans(const T* x, std::ptrdiff_t step, T* y, std::ptrdiff_t n, Limit, Limit) const {
    return spans_of(span(x, {{n, step}}), span(y, {}, n));
  }
};

template <class Operation, class T>
struct Reduce : RuntimeFunction {
  Reduce()
      : RuntimeFunction(instance_name<Reduce, Operation>("reduce"), "etch_reduce.h",
                        floats_among<T>()) {}
  void operator()(const rt::Reduced& reduced, const T* x, std::ptrdiff_t step, T* y,
                  std::ptrdiff_t n) const {
    rt::reduce<Operation>(reduced, x, step, y, n);
  }
  auto spans(const rt::Reduced& r, const T* x, std::ptrdiff_t step, T* y, std::ptrdiff_t n) const {
    return spans_of(
        span(x, {{n, step}, {r.n[0], r.step[0]}, {r.n[1], r.step[1]}, {r.n[2], r.step[2]}}),
        span(y, {}, n));
  }
};

template <class Function>
struct Apply : RuntimeFunction {
  static constexpr bool kIsDouble = std::is_base_of_v<rt::Trigonometric, Function>;
  Apply()
      : RuntimeFunction(instance_name<Apply, Function>("apply"),
                        kIsDouble ? "etch_trigonometry_lanes.h" : "etch_functions.h",
                        FloatUse::kUsed) {}
  void operator()(const float* x, std::ptrdiff_t step, float* y, std::ptrdiff_t n, float alpha,
                  float beta) const {
    rt::apply<Function>(x, step, y, n, alpha, beta);
  }
  auto spans(const float* x, std::ptrdiff_t step, float* y, std::ptrdiff_t n, float, float) const {
    return spans_of(span(x, {{n, step}}), span(y, {}, n));
  }
};

struct Power : RuntimeFunction {
  Power() : RuntimeFunction("power", "etch_functions.h", FloatUse::kUsed) {}
  void operator()(const float* a, std::ptrdiff_t a_step, const float* b, std::ptrdiff_t b_step,
                  float* y, std::ptrdiff_t n) const {
    rt::power(a, a_step, b, b_step, y, n);
  }
  auto spans(const float* a, std::ptrdiff_t a_step, const float* b, std::ptrdiff_t b_step, float* y,
             std::ptrdiff_t n) const {
    return spans_of(span(a, {{n, a_step}}), span(b, {{n, b_step}}), span(y, {}, n));
  }
};

struct PRelu : RuntimeFunction {
  PRelu() : RuntimeFunction("prelu", "etch_rows.h", FloatUse::kUsed) {}
  void operator()(const float* x, std::ptrdiff_t x_step, const float* slope,
                  std::ptrdiff_t slope_step, float* y, std::ptrdiff_t n) const {
    rt::prelu(x, x_step, slope, slope_step, y, n);
  }
  auto spans(const float* x, std::ptrdiff_t x_step, const float* slope, std::ptrdiff_t slope_step,
             float* y, std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, x_step}}), span(slope, {{n, slope_step}}), span(y, {}, n));
  }
};

template <class T>
struct Affine : RuntimeFunction {
  Affine() : RuntimeFunction("affine", "etch_rows.h", FloatUse::kUsed) {}
  void operator()(const T* x, std::ptrdiff_t x_step, const float* factor,
                  std::ptrdiff_t factor_step, const float* offset, std::ptrdiff_t offset_step,
                  float* y, std::ptrdiff_t n) const {
    rt::affine(x, x_step, factor, factor_step, offset, offset_step, y, n);
  }
  auto spans(const T* x, std::ptrdiff_t x_step, const float* factor, std::ptrdiff_t factor_step,
             const float* offset, std::ptrdiff_t offset_step, float* y, std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, x_step}}), span(factor, {{n, factor_step}}),
                    span(offset, {{n, offset_step}}), span(y, {}, n));
  }
};

template <class Better, class T>
struct ArgExtreme : RuntimeFunction {
  ArgExtreme()
      : RuntimeFunction(instance_name<ArgExtreme, Better, T>("arg_extreme"), "etch_extreme.h",
                        floats_among<T>()) {}
  void operator()(const T* x, std::ptrdiff_t x_step, rt::Stored as, int count, std::ptrdiff_t step,
                  int last_of_equals, std::int64_t* y, std::ptrdiff_t n) const {
    rt::arg_extreme<Better, T>(x, x_step, as, count, step, last_of_equals, y, n);
  }
  auto spans(const T* x, std::ptrdiff_t x_step, rt::Stored, int count, std::ptrdiff_t step, int,
             std::int64_t* y, std::ptrdiff_t n) const {
    return spans_of(span(x, {{n, x_step}, {count, step}}), span(y, {}, n));
  }
};

}  // namespace external
}  // namespace etch
