// Descriptors of the functions of runtime/etch_products.h, etch_matmul.h, etch_float_products.h,
// etch_float_column.h, etch_float_depthwise.h, etch_float_indirect.h and etch_pool_lines.h; see
// templates/external.h. Of x all positions that the geometry names count, whether a stride skips
// them or not.
#pragma once

#include "runtime/etch_float_column.h"
#include "runtime/etch_float_depthwise.h"
#include "runtime/etch_float_indirect.h"
#include "runtime/etch_float_products.h"
#include "runtime/etch_matmul.h"
#include "runtime/etch_pool_lines.h"
#include "runtime/etch_products.h"
#include "templates/external.h"
#include "templates/external/float_steps.h"

namespace etch::external {

// ---- integers ----

inline Span span_of_x(const std::uint8_t* x, const rt::ConvShape& s) {
  return span(x, {{s.batch, s.x_image},
                  {std::int64_t{s.group} * s.in, s.x_channel},
                  {s.axis[0].in, s.axis[0].x_step},
                  {s.axis[1].in, s.axis[1].x_step},
                  {s.axis[2].in, s.axis[2].x_step}});
}
inline Span span_of_w(const std::uint8_t* w, const rt::ConvShape& s) {
  return span(w, {{s.group, s.w_group},
                  {s.in, s.w_in},
                  {s.out, s.w_out},
                  {s.axis[0].kernel, s.axis[0].w_step},
                  {s.axis[1].kernel, s.axis[1].w_step},
                  {s.axis[2].kernel, s.axis[2].w_step}});
}
template <class T>
Span span_of_y(const T* y, const rt::ConvShape& s) {
  return span(y, {{s.batch, s.y_image},
                  {std::int64_t{s.group} * s.out, s.y_channel},
                  {s.axis[0].out, s.axis[0].y_step},
                  {s.axis[1].out, s.axis[1].y_step},
                  {s.axis[2].out, s.axis[2].y_step}});
}

struct ConvInteger : RuntimeFunction {
  ConvInteger() : RuntimeFunction("conv_integer", "etch_products.h", FloatUse::kNone) {}
  void operator()(const rt::ConvShape& s, const std::uint8_t* x, const std::uint8_t* x_zero,
                  const std::uint8_t* w, const std::uint8_t* w_zero, std::int32_t* y) const {
    rt::conv_integer(s, x, x_zero, w, w_zero, y);
  }
  auto spans(const rt::ConvShape& s, const std::uint8_t* x, const std::uint8_t* x_zero,
             const std::uint8_t* w, const std::uint8_t* w_zero, std::int32_t* y) const {
    const std::int64_t channels = std::int64_t{s.group} * s.out;
    return spans_of(span_of_x(x, s), span(x_zero, {}), span_of_w(w, s),
                    span(w_zero, {{channels, s.w_zero_step}}), span_of_y(y, s));
  }
};

struct QLinearConv : RuntimeFunction {
  QLinearConv() : RuntimeFunction("qlinear_conv", "etch_products.h", FloatUse::kUsed) {}
  void operator()(const rt::ConvShape& s, const rt::Requantized& r, const std::uint8_t* x,
                  const float* x_scale, const std::uint8_t* x_zero, const std::uint8_t* w,
                  const float* w_scale, const std::uint8_t* w_zero, const float* y_scale,
                  const std::uint8_t* y_zero, const std::int32_t* bias, std::uint8_t* y) const {
    rt::qlinear_conv(s, r, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias, y);
  }
  auto spans(const rt::ConvShape& s, const rt::Requantized& r, const std::uint8_t* x,
             const float* x_scale, const std::uint8_t* x_zero, const std::uint8_t* w,
             const float* w_scale, const std::uint8_t* w_zero, const float* y_scale,
             const std::uint8_t* y_zero, const std::int32_t* bias, std::uint8_t* y) const {
    const std::int64_t channels = std::int64_t{s.group} * s.out;
    return spans_of(span_of_x(x, s), span(x_scale, {}), span(x_zero, {}), span_of_w(w, s),
                    span(w_scale, {{channels, r.scale_step}}),
                    span(w_zero, {{channels, s.w_zero_step}}), span(y_scale, {}), span(y_zero, {}),
                    span(bias, {{channels, r.bias_step}}), span_of_y(y, s));
  }
};

inline Span span_of_a(const std::uint8_t* a, const rt::MatMulShape& s) {
  return span(a, {{s.rows, s.a_row}, {s.depth, s.a_depth}});
}
inline Span span_of_b(const std::uint8_t* b, const rt::MatMulShape& s) {
  return span(b, {{s.depth, s.b_depth}, {s.cols, s.b_col}});
}
template <class T>
Span span_of_y(const T* y, const rt::MatMulShape& s) {
  return span(y, {{s.rows, s.y_row}, {s.cols, s.y_col}});
}

struct MatMulInteger : RuntimeFunction {
  MatMulInteger() : RuntimeFunction("matmul_integer", "etch_products.h", FloatUse::kNone) {}
  void operator()(const rt::MatMulShape& s, const std::uint8_t* a, const std::uint8_t* a_zero,
                  const std::uint8_t* b, const std::uint8_t* b_zero, std::int32_t* y) const {
    rt::matmul_integer(s, a, a_zero, b, b_zero, y);
  }
  auto spans(const rt::MatMulShape& s, const std::uint8_t* a, const std::uint8_t* a_zero,
             const std::uint8_t* b, const std::uint8_t* b_zero, std::int32_t* y) const {
    return spans_of(span_of_a(a, s), span(a_zero, {{s.rows, s.a_zero_step}}), span_of_b(b, s),
                    span(b_zero, {{s.cols, s.b_zero_step}}), span_of_y(y, s));
  }
};

struct QLinearMatMul : RuntimeFunction {
  QLinearMatMul() : RuntimeFunction("qlinear_matmul", "etch_products.h", FloatUse::kUsed) {}
  void operator()(const rt::MatMulShape& s, const rt::Requantized& r, const std::uint8_t* a,
                  const float* a_scale, const std::uint8_t* a_zero, const std::uint8_t* b,
                  const float* b_scale, const std::uint8_t* b_zero, const float* y_scale,
                  const std::uint8_t* y_zero, std::uint8_t* y) const {
    rt::qlinear_matmul(s, r, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, y);
  }
  auto spans(const rt::MatMulShape& s, const rt::Requantized& r, const std::uint8_t* a,
             const float* a_scale, const std::uint8_t* a_zero, const std::uint8_t* b,
             const float* b_scale, const std::uint8_t* b_zero, const float* y_scale,
             const std::uint8_t* y_zero, std::uint8_t* y) const {
    return spans_of(span_of_a(a, s), span(a_scale, {}), span(a_zero, {{s.rows, s.a_zero_step}}),
                    span_of_b(b, s), span(b_scale, {{s.cols, r.scale_step}}),
                    span(b_zero, {{s.cols, s.b_zero_step}}), span(y_scale, {}), span(y_zero, {}),
                    span_of_y(y, s));
  }
};

struct FoldZeroPoint : RuntimeFunction {
  FoldZeroPoint() : RuntimeFunction("fold_zero_point", "etch_products.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* zero, rt::Stored as, int offset, const std::int32_t* factor,
                  std::int32_t* start, std::ptrdiff_t n) const {
    rt::fold_zero_point(zero, as, offset, factor, start, n);
  }
  auto spans(const std::uint8_t* zero, rt::Stored, int, const std::int32_t* factor,
             std::int32_t* start, std::ptrdiff_t n) const {
    return spans_of(span(zero, {}), span(factor, {}, n), span(start, {}, n));
  }
};

struct AddToRows : RuntimeFunction {
  AddToRows() : RuntimeFunction("add_to_rows", "etch_products.h", FloatUse::kNone) {}
  void operator()(const std::int32_t* start, std::int32_t* y, std::ptrdiff_t rows,
                  std::ptrdiff_t channels) const {
    rt::add_to_rows(start, y, rows, channels);
  }
  auto spans(const std::int32_t* start, std::int32_t* y, std::ptrdiff_t rows,
             std::ptrdiff_t channels) const {
    return spans_of(span(start, {}, channels), span(y, {}, rows * channels));
  }
};

struct FillZeroPoint : RuntimeFunction {
  FillZeroPoint() : RuntimeFunction("fill_zero_point", "etch_products.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* zero, rt::Stored as, int offset, std::uint8_t* y,
                  std::ptrdiff_t n) const {
    rt::fill_zero_point(zero, as, offset, y, n);
  }
  auto spans(const std::uint8_t* zero, rt::Stored, int, std::uint8_t* y, std::ptrdiff_t n) const {
    return spans_of(span(zero, {}), span(y, {}, n));
  }
};

struct PackColumns : RuntimeFunction {
  PackColumns() : RuntimeFunction("pack_columns", "etch_matmul.h", FloatUse::kNone) {}
  void operator()(const rt::PackedColumns& s, const std::uint8_t* b, const std::uint8_t* b_zero,
                  const std::uint8_t* a_zero, std::uint8_t* packed, std::int32_t* start) const {
    rt::pack_columns(s, b, b_zero, a_zero, packed, start);
  }
  auto spans(const rt::PackedColumns& s, const std::uint8_t* b, const std::uint8_t* b_zero,
             const std::uint8_t* a_zero, std::uint8_t* packed, std::int32_t* start) const {
    const std::int64_t lanes = std::int64_t{s.lanes} * s.vectors;
    const std::int64_t step = s.form == rt::PackedForm::kSquares ? 8 : 4;  // of K
    const std::int64_t bytes = s.form == rt::PackedForm::kBytes ? 4 : 8;   // of a column
    return spans_of(span(b, {{s.depth, s.depth_step}, {s.cols, s.col_step}}), span(b_zero, {}),
                    span(a_zero, {}), span(packed, {}, (s.depth + step - 1) / step * lanes * bytes),
                    span(start, {}, lanes));
  }
};

struct RowTermsOf : RuntimeFunction {
  RowTermsOf() : RuntimeFunction("row_terms", "etch_matmul.h", FloatUse::kNone) {}
  void operator()(const rt::RowTerms& s, const std::uint8_t* a, const std::uint8_t* a_zero,
                  const std::uint8_t* b_zero, std::int32_t* terms) const {
    rt::row_terms(s, a, a_zero, b_zero, terms);
  }
  auto spans(const rt::RowTerms& s, const std::uint8_t* a, const std::uint8_t* a_zero,
             const std::uint8_t* b_zero, std::int32_t* terms) const {
    return spans_of(span(a, {{s.rows, s.row_step}}, s.depth), span(a_zero, {}), span(b_zero, {}),
                    span(terms, {}, std::int64_t{s.rows} * s.lanes));
  }
};

// ---- floats ----

constexpr std::string_view float_pool_name(bool averages, bool lines) {
  if (lines) return averages ? "average_pool_lines" : "max_pool_lines";
  return averages ? "average_pool" : "max_pool";
}

template <bool averages, bool lines>
struct FloatPool : RuntimeFunction {
  FloatPool()
      : RuntimeFunction(float_pool_name(averages, lines),
                        lines ? "etch_pool_lines.h" : "etch_products.h", FloatUse::kUsed) {}
  void operator()(const rt::PoolShape& s, const float* x, float* y) const {
    if constexpr (averages && lines) {
      rt::average_pool_lines(s, x, y);
    } else if constexpr (averages) {
      rt::average_pool(s, x, y);
    } else if constexpr (lines) {
      rt::max_pool_lines(s, x, y);
    } else {
      rt::max_pool(s, x, y);
    }
  }
  auto spans(const rt::PoolShape& s, const float* x, float* y) const {
    return spans_of(span(x, {{s.batch, s.x_image},
                             {s.channels, s.x_channel},
                             {s.axis[0].in, s.axis[0].x_step},
                             {s.axis[1].in, s.axis[1].x_step},
                             {s.axis[2].in, s.axis[2].x_step}}),
                    span(y, {{s.batch, s.y_image},
                             {s.channels, s.y_channel},
                             {s.axis[0].out, s.axis[0].y_step},
                             {s.axis[1].out, s.axis[1].y_step},
                             {s.axis[2].out, s.axis[2].y_step}}));
  }
};

// Of float_depthwise() one channel of x belongs to each group, the next to it.
template <bool depthwise>
struct FloatConv : ProductFunction<FloatConv<depthwise>> {
  FloatConv()
      : ProductFunction<FloatConv>(depthwise ? "float_depthwise" : "float_conv",
                                   depthwise ? "etch_float_depthwise.h" : "etch_float_products.h") {
  }
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const float* w, const float* c, float* y) const {
    this->in_steps([&](auto steps) {
      if constexpr (depthwise) {
        rt::float_depthwise<decltype(steps)>(s, end, x, w, c, y);
      } else {
        rt::float_conv<decltype(steps)>(s, end, x, w, c, y);
      }
    });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x, const float* w,
             const float* c, float* y) const {
    const std::int64_t x_channels = std::int64_t{s.group} * (depthwise ? 1 : s.in);
    const std::int64_t y_channels = std::int64_t{s.group} * (depthwise ? 1 : s.out);
    const std::int64_t taps = std::int64_t{s.axis[0].kernel} * s.axis[1].kernel * s.axis[2].kernel;
    return spans_of(span(x, {{s.batch, s.x_image},
                             {x_channels, depthwise ? 1 : s.x_channel},
                             {s.axis[0].in, s.axis[0].x_step},
                             {s.axis[1].in, s.axis[1].x_step},
                             {s.axis[2].in, s.axis[2].x_step}}),
                    span(w, {}, y_channels * taps * (depthwise ? 1 : s.in)),
                    span(c, {{s.axis[s.along].out, end.c_row}, {y_channels, end.c_column}}),
                    span(y, {{s.batch, s.y_image},
                             {y_channels, depthwise ? 1 : s.y_channel},
                             {s.axis[0].out, s.axis[0].y_step},
                             {s.axis[1].out, s.axis[1].y_step},
                             {s.axis[2].out, s.axis[2].y_step}}));
  }
};

struct FloatIndirect : ProductFunction<FloatIndirect> {
  FloatIndirect() : ProductFunction("float_indirect", "etch_float_indirect.h") {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const float* w, const float* c, float* y, float* zeros) const {
    in_steps([&](auto steps) { rt::float_indirect<decltype(steps)>(s, end, x, w, c, y, zeros); });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x, const float* w,
             const float* c, float* y, float* zeros) const {
    const auto others = FloatConv<false>{}.spans(s, end, x, w, c, y);
    return spans_of(others[0], others[1], others[2], others[3], span(zeros, {}, s.in));
  }
};

struct FloatColumn : ProductFunction<FloatColumn> {
  FloatColumn() : ProductFunction("float_column", "etch_float_column.h") {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const float* w, const float* c, float* y) const {
    in_steps([&](auto steps) { rt::float_column<decltype(steps)>(s, end, x, w, c, y); });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x, const float* w,
             const float* c, float* y) const {
    return FloatConv<false>{}.spans(s, end, x, w, c, y);
  }
};

struct PackPanels : RuntimeFunction {
  PackPanels() : RuntimeFunction("pack_panels", "etch_float_products.h", FloatUse::kNone) {}
  void operator()(const rt::PackShape& s, const float* w, float* packed) const {
    rt::pack_panels(s, w, packed);
  }
  auto spans(const rt::PackShape& s, const float* w, float* packed) const {
    return spans_of(span(w, {{s.group, s.group_step},
                             {s.taps, s.tap_step},
                             {s.in, s.in_step},
                             {s.out, s.out_step}}),
                    span(packed, {}, std::int64_t{s.group} * s.taps * s.in * s.out));
  }
};

}  // namespace etch::external
