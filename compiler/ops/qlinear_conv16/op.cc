// Checks and shapes of convolutions and products of 16 bits; see op.h.
#include "compiler/ops/qlinear_conv16/op.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/result_limits.h"

namespace etch {

namespace {

constexpr OpName kQLinearConv16Names[] = {{kEtch, "QLinearConv16", 1},
                                          {kEtch, "QLinearConvTranspose16", 1},
                                          {kEtch, "QLinearMatMul16", 1}};

bool check_conv16_types(ResolveContext& context) {
  const bool x = check_dtype(context, 0, "x", {DType::kU16, DType::kS16});
  const bool w = check_dtype(context, 3, "w", {DType::kU8, DType::kS8});
  const bool y = check_dtype(context, 7, "y_zero_point", {context.dtype(0)});
  for (int i = 1; i < context.input_count(); ++i) {
    if (context.constant(i) == nullptr)
      context.error(DiagKind::kUnsupported, "everything but x must be constant");
  }
  return x && w && y && !context.failed();
}

// Rows of x as positions of one axis.
std::optional<ConvGeometry> product_geometry(ResolveContext& context) {
  const Shape &x = context.shape(0), &w = context.shape(3);
  if (x.empty() || w.size() != 2 || x.back() != w[1] || element_count(x) == 0 || w[0] == 0) {
    context.error(DiagKind::kShape, cat("x ", to_string(x), " and w ", to_string(w),
                                        " must be [..., K] and [M, K], not empty"));
    return std::nullopt;
  }
  ConvGeometry out;
  out.layout = ConvLayout::kChannelsLast;
  out.in_channels = w[1];
  out.out_channels = w[0];
  ConvAxis rows;
  rows.in = rows.out = element_count(x) / w[1];
  out.axes = {rows};
  return out;
}

std::optional<ConvGeometry> geometry_of(ResolveContext& context) {
  const std::string& type = context.node().op_type;
  if (type == "QLinearMatMul16") return product_geometry(context);
  return resolve_conv_geometry(
      context, type == "QLinearConv16" ? ConvDirection::kForward : ConvDirection::kTransposed,
      ConvLayout::kChannelsFirst, ConvInputs{0, 3});
}

std::optional<std::vector<std::int32_t>> rests_of(ResolveContext& context) {
  if (!context.has_input(9)) return std::vector<std::int32_t>{};
  const auto given = context.constant(9)->as<std::int32_t>();
  constexpr std::int32_t kHalf = std::int32_t{1} << 30;
  if (std::ranges::any_of(given, [](std::int32_t r) { return r < -kHalf || r > kHalf; })) {
    context.input_error(DiagKind::kQuant, 9, "B_rest", "must be at most half a unit of B");
    return std::nullopt;
  }
  return std::vector<std::int32_t>(given.begin(), given.end());
}

Shape shape_of_output(const ResolveContext& context, const ConvGeometry& geometry) {
  if (context.node().op_type != "QLinearMatMul16") return geometry.output_shape();
  Shape out = context.shape(0);
  out.back() = geometry.out_channels;
  return out;
}

LayoutRule conv16_layout(const Node& node) {
  return node.op_type == "QLinearMatMul16" ? LayoutRule::kRowMajor : LayoutRule::kChannelsLast;
}

void resolve_qlinear_conv16(ResolveContext& context) {
  const bool types = check_conv16_types(context);
  const auto geometry = geometry_of(context);
  if (!geometry || !types) return;
  const DType type = context.dtype(7);
  const auto x = resolve_quantization(context, {"x", 1, 2}, context.dtype(0), per_tensor_shapes());
  const auto w = resolve_quantization(context, {"w", 4, 5}, context.dtype(3),
                                      per_channel_shapes(geometry->out_channels));
  const auto y = resolve_quantization(context, {"y", 6, 7}, type, per_tensor_shapes());
  check_conv_bias(context, 8, DType::kS32, geometry->out_channels);
  check_conv_bias(context, 9, DType::kS32, geometry->out_channels);
  const auto limits = read_result_limits(context, type);
  if (context.failed() || !x || !w || !y || !limits) return;
  const Shape shape = shape_of_output(context, *geometry);
  const auto rests = rests_of(context);
  if (!rests) return;
  QLinearConv16 params{*geometry, shape, *x, *w, *y, *rests, limits->low, limits->high};
  const auto part = part_of_sums(context, params);
  if (!part) return;
  params.part = *part;
  context.set_output(0, type, shape);
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

std::int32_t WideScale::rest(std::int32_t of_bias) const {
  const std::int64_t product =
      std::int64_t{of_bias} * high() + ((std::int64_t{of_bias} * low()) >> 31);
  return static_cast<std::int32_t>((product + (std::int64_t{1} << 30)) >> 31);
}

extern const OpDef kOp_qlinear_conv16 = {.folder = "qlinear_conv16",
                                         .names = kQLinearConv16Names,
                                         .arity = {.min_inputs = 8, .max_inputs = 10},
                                         .resolve = resolve_qlinear_conv16,
                                         .reference = reference_qlinear_conv16,
                                         .lower = lower_qlinear_conv16,
                                         .layout = conv16_layout};

}  // namespace etch
