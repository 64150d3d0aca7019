// Checks and shapes of QLinearSum16; see op.h.
#include "compiler/ops/qlinear_sum16/op.h"

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/result_limits.h"

namespace etch {

namespace {

constexpr OpName kQLinearSum16Names[] = {{kEtch, "QLinearSum16", 1}};
constexpr int kInputA = 0, kInputB = 5;

bool check_sum16_types(ResolveContext& context) {
  if (!check_dtype(context, kInputA, "a", {DType::kU16, DType::kS16})) return false;
  return context.input_count() <= kInputB ||
         check_dtype(context, kInputB, "b", {context.dtype(kInputA)});
}

std::optional<Shape> shape_of(ResolveContext& context, bool two) {
  if (!two) return context.shape(kInputA);
  auto shape = broadcast_shape(context.shape(kInputA), context.shape(kInputB));
  if (!shape) {
    context.error(DiagKind::kShape, cat("shapes ", to_string(context.shape(kInputA)), " and ",
                                        to_string(context.shape(kInputB)), " do not broadcast"));
  }
  return shape;
}

void resolve_qlinear_sum16(ResolveContext& context) {
  if (!check_sum16_types(context)) return;
  const DType type = context.dtype(kInputA);
  const bool two = context.input_count() > kInputB;
  const auto a = scalar_quantization(context, {"a", 1, 2}, type);
  const auto y = scalar_quantization(context, {"y", 3, 4}, type);
  const auto b = two ? scalar_quantization(context, {"b", 6, 7}, type) : a;
  const auto shape = shape_of(context, two);
  const auto limits = read_result_limits(context, type);
  if (!a || !b || !y || !shape || !limits) return;
  const QLinearSum16 params{type, two, *a, *b, *y, *shape, limits->low, limits->high};
  if (!sum_factors16(params)) context.error(DiagKind::kQuant, "the ratio of its scales is extreme");
  context.set_output(0, type, *shape);
  context.set_params(params);
}

}  // namespace

std::optional<SumFactors16> sum_factors16(const QLinearSum16& sum) {
  const float scales[] = {sum.a.scale, sum.b.scale};
  const std::size_t terms = sum.two ? 2 : 1;
  const auto exact = exact_ratios({scales, terms}, sum.y.scale);
  if (!exact) return std::nullopt;
  const double ratios[] = {double{sum.a.scale} / sum.y.scale, double{sum.b.scale} / sum.y.scale};
  // Each difference is less than 2^16 and each factor off by at most 1/2: with 18 bits the guess is
  // off by at most 1/4 before it is rounded.
  constexpr int kLeast = 18, kMost = 49;
  const int bits = bits_of_ratios({ratios, terms}, kMost);
  if (bits < kLeast) return std::nullopt;
  SumFactors16 out{*exact, rounded_ratio(ratios[0], bits), 0, bits};
  if (sum.two) out.b = rounded_ratio(ratios[1], bits);
  return out;
}

extern const OpDef kOp_qlinear_sum16 = {.folder = "qlinear_sum16",
                                        .names = kQLinearSum16Names,
                                        .arity = {.min_inputs = 5, .max_inputs = 8},
                                        .resolve = resolve_qlinear_sum16,
                                        .reference = reference_qlinear_sum16,
                                        .lower = lower_qlinear_sum16,
                                        .elements = pointwise_rule,
                                        .layout = any_order_rule};

}  // namespace etch
