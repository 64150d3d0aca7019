// Descriptors of the functions of runtime/etch_words.h and etch_word_depthwise.h; see
// templates/external.h. Of x all positions that the geometry names count, whether a stride skips
// them or not.
#pragma once

#include <string>

#include "runtime/etch_word_depthwise.h"
#include "templates/external.h"

namespace etch {

namespace rt {
inline std::string text_of(const WordEnd& e) {
  std::string out = "rt::WordEnd{";
  for (const std::int32_t each : {e.flip, e.corrected, e.zero, e.low, e.high, e.beyond})
    out.append(std::to_string(each)).append(", ");
  return out.append(std::to_string(e.part)).append("}");
}
}  // namespace rt

namespace external {

// Of x, y, and per channel; weights besides.
template <rt::WordForm form, class T>
auto word_spans(const rt::FloatConvShape& s, const rt::WordEnd& end, const T* x, Span w,
                const std::int32_t* taken_off, const std::int32_t* bias, const std::int32_t* scale,
                T* y) {
  const std::int64_t columns = std::int64_t{s.group} * s.out;
  const std::int64_t taps = std::int64_t{s.axis[0].kernel} * s.axis[1].kernel * s.axis[2].kernel;
  const std::int64_t parts = (s.in + end.part - 1) / end.part;
  return spans_of(span(x, {{s.batch, s.x_image},
                           {std::int64_t{s.group} * s.in, s.x_channel},
                           {s.axis[0].in, s.axis[0].x_step},
                           {s.axis[1].in, s.axis[1].x_step},
                           {s.axis[2].in, s.axis[2].x_step}}),
                  w, span(taken_off, {}, end.corrected != 0 ? columns * taps * parts : 0),
                  span(bias, {}, columns * (1 + end.beyond)),
                  span(scale, {}, (form == rt::WordForm::kPlain ? 5 : 4) * columns),
                  span(y, {{s.batch, s.y_image},
                           {columns, s.y_channel},
                           {s.axis[0].out, s.axis[0].y_step},
                           {s.axis[1].out, s.axis[1].y_step},
                           {s.axis[2].out, s.axis[2].y_step}}));
}

constexpr const char* name_of(rt::WordForm form) {
  return form == rt::WordForm::kPlain  ? "rt::WordForm::kPlain"
         : form == rt::WordForm::kTies ? "rt::WordForm::kTies"
                                       : "rt::WordForm::kParts";
}
constexpr const char* name_of(rt::WordOrder order) {
  return order == rt::WordOrder::kPairs   ? "rt::WordOrder::kPairs"
         : order == rt::WordOrder::kFours ? "rt::WordOrder::kFours"
                                          : "rt::WordOrder::kEights";
}

template <rt::WordForm form, rt::WordOrder order>
const std::string& conv_words_name() {
  static const std::string kName =
      std::string("conv_words<") + name_of(form) + ", " + name_of(order) + ">";
  return kName;
}

template <class T, rt::WordForm form, rt::WordOrder order>
struct ConvWords : RuntimeFunction {
  ConvWords() : RuntimeFunction(conv_words_name<form, order>(), "etch_words.h", FloatUse::kNone) {}
  void operator()(const rt::FloatConvShape& s, const rt::WordEnd& end, const T* x,
                  const std::uint8_t* w, const std::int32_t* taken_off, const std::int32_t* bias,
                  const std::int32_t* scale, T* y) const {
    rt::conv_words<form, order>(s, end, x, w, taken_off, bias, scale, y);
  }
  auto spans(const rt::FloatConvShape& s, const rt::WordEnd& end, const T* x, const std::uint8_t* w,
             const std::int32_t* taken_off, const std::int32_t* bias, const std::int32_t* scale,
             T* y) const {
    const std::int64_t taps = std::int64_t{s.axis[0].kernel} * s.axis[1].kernel * s.axis[2].kernel;
    const std::int64_t bytes = std::int64_t{s.group} * s.out * taps * rt::bytes_of_tap<order>(s, 1);
    return word_spans<form>(s, end, x, span(w, {}, bytes), taken_off, bias, scale, y);
  }
};

template <rt::WordForm form>
const std::string& depthwise_words_name() {
  static const std::string kName = std::string("depthwise_words<") + name_of(form) + ">";
  return kName;
}

template <class T, rt::WordForm form>
struct DepthwiseWords : RuntimeFunction {
  DepthwiseWords()
      : RuntimeFunction(depthwise_words_name<form>(), "etch_word_depthwise.h", FloatUse::kNone) {}
  void operator()(const rt::FloatConvShape& s, const rt::WordEnd& end, const T* x,
                  const std::int16_t* w, const std::int32_t* taken_off, const std::int32_t* bias,
                  const std::int32_t* scale, T* y) const {
    rt::depthwise_words<form>(s, end, x, w, taken_off, bias, scale, y);
  }
  auto spans(const rt::FloatConvShape& s, const rt::WordEnd& end, const T* x, const std::int16_t* w,
             const std::int32_t* taken_off, const std::int32_t* bias, const std::int32_t* scale,
             T* y) const {
    const std::int64_t taps = std::int64_t{s.axis[0].kernel} * s.axis[1].kernel * s.axis[2].kernel;
    return word_spans<form>(s, end, x, span(w, {}, s.group * taps), taken_off, bias, scale, y);
  }
};

}  // namespace external
}  // namespace etch
