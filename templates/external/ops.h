// Descriptors of the functions of runtime/etch_ops.h and of what it includes; see
// templates/external.h.
#pragma once

#include "runtime/etch_lookup.h"
#include "runtime/etch_ops.h"
#include "runtime/etch_prefetch.h"
#include "runtime/etch_softmax.h"
#include "runtime/etch_sum.h"
#include "templates/external.h"

namespace etch::external {

struct Fill : RuntimeFunction {
  Fill() : RuntimeFunction("fill", kOpsHeader, FloatUse::kNone) {}
  void operator()(std::uint8_t* y, int value, int n) const { rt::fill(y, value, n); }
  auto spans(std::uint8_t* y, int, int n) const { return spans_of(span(y, {}, n)); }
};

struct Lookup : RuntimeFunction {
  Lookup() : RuntimeFunction("lookup", "etch_lookup.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, const std::uint8_t* table, int n) const {
    rt::lookup(x, y, table, n);
  }
  auto spans(const std::uint8_t* x, std::uint8_t* y, const std::uint8_t* table, int n) const {
    return spans_of(span(x, {}, n), span(y, {}, n), span(table, {}, 256));
  }
};

// Between bytes that are each looked up.
struct ChooseFromTables : RuntimeFunction {
  ChooseFromTables() : RuntimeFunction("choose", kOpsHeader, FloatUse::kNone) {}
  void operator()(const std::uint8_t* condition, std::ptrdiff_t step, const std::uint8_t* a,
                  std::ptrdiff_t a_step, const std::uint8_t* a_table, const std::uint8_t* b,
                  std::ptrdiff_t b_step, const std::uint8_t* b_table, std::uint8_t* z,
                  std::ptrdiff_t n) const {
    rt::choose(condition, step, a, a_step, a_table, b, b_step, b_table, z, n);
  }
  auto spans(const std::uint8_t* condition, std::ptrdiff_t step, const std::uint8_t* a,
             std::ptrdiff_t a_step, const std::uint8_t* a_table, const std::uint8_t* b,
             std::ptrdiff_t b_step, const std::uint8_t* b_table, std::uint8_t* z,
             std::ptrdiff_t n) const {
    return spans_of(span(condition, {{n, step}}), span(a, {{n, a_step}}), span(a_table, {}, 256),
                    span(b, {{n, b_step}}), span(b_table, {}, 256), span(z, {}, n));
  }
};

struct Softmax : RuntimeFunction {
  Softmax() : RuntimeFunction("softmax_f32", "etch_softmax.h", FloatUse::kUsed) {}
  void operator()(const float* x, float* y, int rows, int n) const {
    rt::softmax_f32(x, y, rows, n);
  }
  auto spans(const float* x, float* y, int rows, int n) const {
    return spans_of(span(x, {{rows, n}}, n), span(y, {{rows, n}}, n));
  }
};

struct AddBytes : RuntimeFunction {
  AddBytes() : RuntimeFunction("add_bytes", "etch_sum.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* y, int n,
                  int a_factor, int b_factor, int offset_low, int offset_high, int shift, int low,
                  int high) const {
    rt::add_bytes(a, b, y, n, a_factor, b_factor, offset_low, offset_high, shift, low, high);
  }
  auto spans(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* y, int n, int, int, int,
             int, int, int, int) const {
    return spans_of(span(a, {}, n), span(b, {}, n), span(y, {}, n));
  }
};

struct AddBytesNarrow : RuntimeFunction {
  explicit AddBytesNarrow(bool to_even)
      : RuntimeFunction(to_even ? "add_bytes_to_even" : "add_bytes_narrow", "etch_sum.h",
                        FloatUse::kNone),
        to_even_(to_even) {}
  void operator()(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* y, int n,
                  int a_factor, int b_factor, int offset, int bits, int low, int high) const {
    (to_even_ ? rt::add_bytes_to_even : rt::add_bytes_narrow)(a, b, y, n, a_factor, b_factor,
                                                              offset, bits, low, high);
  }
  auto spans(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* y, int n, int, int, int,
             int, int, int) const {
    return spans_of(span(a, {}, n), span(b, {}, n), span(y, {}, n));
  }

 private:
  bool to_even_;
};

// A hint: reads nothing, and may name what is outside of an array.
struct Prefetch : RuntimeFunction {
  Prefetch() : RuntimeFunction("prefetch", "etch_prefetch.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* ahead, const std::uint8_t* start, const std::uint8_t* at,
                  std::ptrdiff_t distance) const {
    rt::prefetch(ahead, start, at, distance);
  }
  auto spans(const std::uint8_t*, const std::uint8_t*, const std::uint8_t*, std::ptrdiff_t) const {
    return spans_of(Span{}, Span{}, Span{});
  }
};

}  // namespace etch::external
