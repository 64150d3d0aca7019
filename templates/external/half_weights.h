// Descriptors of the functions of runtime/etch_half_weights.h; see templates/external.h. `Form` is
// rt::WidenHalf or rt::WidenBfloat.
#pragma once

#include "runtime/etch_half_weights.h"
#include "templates/external/products.h"

namespace etch {

ETCH_RUNTIME_NAME(rt::WidenHalf, "rt::WidenHalf");
ETCH_RUNTIME_NAME(rt::WidenBfloat, "rt::WidenBfloat");

namespace external {

inline constexpr std::string_view kHalfWeights = "etch_half_weights.h";

// As the same convolution with weights that are floats, but of half the bytes.
inline std::array<Span, 4> spans_with_halves(const rt::FloatConvShape& s, const rt::FloatEnd& end,
                                             const float* x, const std::uint16_t* w, const float* c,
                                             float* y) {
  const auto all = FloatConv<false>{}.spans(s, end, x, nullptr, c, y);
  return {all[0], span(w, {}, all[1].end / std::int64_t{sizeof(float)}), all[2], all[3]};
}

// Of `columns` columns, or all of a group where there are fewer.
inline Span span_of_widened(const rt::FloatConvShape& s, int columns, const float* widened) {
  const std::int64_t taps = std::int64_t{s.axis[0].kernel} * s.axis[1].kernel * s.axis[2].kernel;
  return span(widened, {}, taps * s.in * (columns < s.out ? columns : s.out));
}

template <class Form>
struct HalfProduct : ProductFunction<HalfProduct<Form>> {
  HalfProduct()
      : ProductFunction<HalfProduct>(instance_name<HalfProduct, Form>("half_product"),
                                     kHalfWeights) {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
                  const std::uint16_t* w, const float* c, float* y) const {
    this->in_steps(
        [&](auto steps) { rt::half_product<Form, decltype(steps)>(s, end, x, w, c, y); });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, const float* x,
             const std::uint16_t* w, const float* c, float* y) const {
    return spans_with_halves(s, end, x, w, c, y);
  }
};

template <class Form>
struct WidenedConv : ProductFunction<WidenedConv<Form>> {
  WidenedConv()
      : ProductFunction<WidenedConv>(instance_name<WidenedConv, Form>("widened_conv"),
                                     kHalfWeights) {}
  void operator()(const rt::FloatConvShape& s, const rt::FloatEnd& end, int columns, const float* x,
                  const std::uint16_t* w, const float* c, float* y, float* widened) const {
    this->in_steps([&](auto steps) {
      rt::widened_conv<Form, decltype(steps)>(s, end, columns, x, w, c, y, widened);
    });
  }
  auto spans(const rt::FloatConvShape& s, const rt::FloatEnd& end, int columns, const float* x,
             const std::uint16_t* w, const float* c, float* y, float* widened) const {
    const auto all = spans_with_halves(s, end, x, w, c, y);
    return spans_of(all[0], all[1], all[2], all[3], span_of_widened(s, columns, widened));
  }
};

template <class Form, class Index>
struct GatherHalves : RuntimeFunction {
  GatherHalves()
      : RuntimeFunction(instance_name<GatherHalves, Form, Index>("gather_halves"), kHalfWeights,
                        FloatUse::kUsed) {}
  void operator()(const std::uint16_t* x, const Index* indices, float* y, int outer, int size,
                  int count, int inner) const {
    rt::gather_halves<Form>(x, indices, y, outer, size, count, inner);
  }
  auto spans(const std::uint16_t* x, const Index* indices, float* y, int outer, int size, int count,
             int inner) const {
    const std::int64_t slices = std::int64_t{outer} * inner;
    return spans_of(span(x, {}, slices * size), span(indices, {}, count),
                    span(y, {}, slices * count));
  }
};

}  // namespace external
}  // namespace etch
