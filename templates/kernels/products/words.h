// The kernel of convolutions of 16-bit activations: a call of runtime/etch_words.h
// or etch_word_depthwise.h.
#pragma once

#include "templates/external/words.h"
#include "templates/kernels/arguments.h"

namespace etch {

struct WordConvPlan {
  rt::FloatConvShape shape{};
  rt::WordEnd end{};
  rt::WordForm form = rt::WordForm::kPlain;
  rt::WordOrder order = rt::WordOrder::kPairs;  // of weights, unless depthwise
  bool depthwise = false;                       // and one part
  Argument x, w, taken_off, bias, scale;
  int y = 0;  // operand of the step
};

template <class T, class W, class Function, class S>
void call_words(S& s, const Function& function, const WordConvPlan& p) {
  s.call(function, p.shape, p.end, pointer_to<T>(s, p.x), pointer_to<W>(s, p.w),
         pointer_to<std::int32_t>(s, p.taken_off), pointer_to<std::int32_t>(s, p.bias),
         pointer_to<std::int32_t>(s, p.scale), s.template operand<T>(p.y));
}

template <class T, rt::WordForm form, class S>
void word_conv_of(S& s, const WordConvPlan& p) {
  using rt::WordOrder;
  if constexpr (form != rt::WordForm::kParts) {
    if (p.order == WordOrder::kEights)
      return call_words<T, std::uint8_t>(s, external::ConvWords<T, form, WordOrder::kEights>{}, p);
  }
  if (p.order == WordOrder::kFours)
    return call_words<T, std::uint8_t>(s, external::ConvWords<T, form, WordOrder::kFours>{}, p);
  call_words<T, std::uint8_t>(s, external::ConvWords<T, form, WordOrder::kPairs>{}, p);
}

template <class T, class S>
void word_conv(S& s, const WordConvPlan& p) {
  using rt::WordForm;
  const bool is_plain = p.form == WordForm::kPlain;
  if (p.depthwise && is_plain)
    return call_words<T, std::int16_t>(s, external::DepthwiseWords<T, WordForm::kPlain>{}, p);
  if (p.depthwise)
    return call_words<T, std::int16_t>(s, external::DepthwiseWords<T, WordForm::kTies>{}, p);
  if (is_plain) return word_conv_of<T, WordForm::kPlain>(s, p);
  if (p.form == WordForm::kTies) return word_conv_of<T, WordForm::kTies>(s, p);
  word_conv_of<T, WordForm::kParts>(s, p);
}

template <class S>
void word_conv_kernel(S& s, const WordConvPlan& p) {
  if (p.end.flip != 0) return word_conv<std::uint16_t>(s, p);
  word_conv<std::int16_t>(s, p);
}

}  // namespace etch
