// Checks and shapes of QLinearConv16; see op.h.
#include "compiler/ops/qlinear_conv16/op.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/result_limits.h"

namespace etch {

namespace {

constexpr OpName kNames[] = {{kEtch, "QLinearConv16", 1}};

bool check_types(ResolveContext& context) {
  const bool x = check_dtype(context, 0, "x", {DType::kU16, DType::kS16});
  const bool w = check_dtype(context, 3, "w", {DType::kU8, DType::kS8});
  const bool y = check_dtype(context, 7, "y_zero_point", {context.dtype(0)});
  for (int i = 1; i < context.input_count(); ++i) {
    if (context.constant(i) == nullptr)
      context.error(DiagKind::kUnsupported, "everything but x must be constant");
  }
  return x && w && y && !context.failed();
}

// All products and sums fit, whatever x is.
void check_sums(ResolveContext& context, const QLinearConv16& p) {
  const std::int64_t zero = p.x.zero_point_at(0);
  const std::int64_t widest =
      std::max(zero - min_of(context.dtype(0)), max_of(context.dtype(0)) - zero);
  const std::vector<std::int64_t> w = context.constant(3)->integers();
  const std::int64_t each = static_cast<std::int64_t>(w.size()) / p.geometry.out_channels;
  for (std::int64_t m = 0; m < p.geometry.out_channels; ++m) {
    std::int64_t sum = context.has_input(8) ? std::abs(context.constant(8)->integer(m)) : 0;
    for (std::int64_t i = m * each; i < (m + 1) * each; ++i) {
      const std::int64_t weight = w[as_index(i)] - p.w.zero_point_at(m);
      if (weight < -128 || weight > 127)
        return context.error(DiagKind::kUnsupported, "weights less their zero point leave 8 bits");
      sum += widest * std::abs(weight);
    }
    if (sum > INT32_MAX) return context.error(DiagKind::kUnsupported, "its sums may leave int32");
    const int shift = wide_scale(p.x.scale_at(0), p.w.scale_at(m), p.y.scale_at(0)).shift();
    if (shift < 1 || shift > 61)
      return context.error(DiagKind::kQuant, "the ratio of its scales is extreme");
  }
}

void resolve(ResolveContext& context) {
  const bool types = check_types(context);
  const auto geometry = resolve_conv_geometry(context, ConvDirection::kForward,
                                              ConvLayout::kChannelsFirst, ConvInputs{0, 3});
  if (!geometry || !types) return;
  const DType type = context.dtype(7);
  const auto x = resolve_quantization(context, {"x", 1, 2}, context.dtype(0), per_tensor_shapes());
  const auto w = resolve_quantization(context, {"w", 4, 5}, context.dtype(3),
                                      per_channel_shapes(geometry->out_channels));
  const auto y = resolve_quantization(context, {"y", 6, 7}, type, per_tensor_shapes());
  check_conv_bias(context, 8, DType::kS32, geometry->out_channels);
  const auto limits = read_result_limits(context, type);
  if (context.failed() || !x || !w || !y || !limits) return;
  const QLinearConv16 params{*geometry, *x, *w, *y, limits->low, limits->high};
  check_sums(context, params);
  context.set_output(0, type, geometry->output_shape());
  context.set_params(params);
}

// value = the result / 2^24, with value > 0 normal or not.
struct Significand {
  std::int64_t bits = 0;
  int exponent = 0;  // of the last bit
};
Significand significand_of(float value) {
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  return {static_cast<std::int64_t>(std::ldexp(fraction, 24)), exponent - 24};
}

}  // namespace

WideScale wide_scale(float x, float w, float y) {
  const Significand a = significand_of(x), b = significand_of(w), c = significand_of(y);
  const std::int64_t product = a.bits * b.bits;  // 48 bits
  std::int64_t factor = product / c.bits, rest = product % c.bits;
  int exponent = -(a.exponent + b.exponent - c.exponent);
  for (; factor < std::int64_t{1} << 59; ++exponent) {
    rest *= 2;
    factor = factor * 2 + (rest >= c.bits ? 1 : 0);
    if (rest >= c.bits) rest -= c.bits;
  }
  return {factor, exponent};
}

extern const OpDef kOp_qlinear_conv16 = {.folder = "qlinear_conv16",
                                         .names = kNames,
                                         .arity = {.min_inputs = 8, .max_inputs = 9},
                                         .resolve = resolve,
                                         .reference = reference_qlinear_conv16,
                                         .lower = lower_qlinear_conv16,
                                         .layout = channels_last_rule};

}  // namespace etch
