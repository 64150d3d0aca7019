// Resolves QLinearAdd and QLinearMul; see op.h.
#include "compiler/ops/qlinear_binary/op.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/float_interval.h"
#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"
#include "compiler/ops/result_limits.h"

namespace etch {

std::vector<Tensor> qlinear_binary_reference(const Node& node,
                                             std::span<const Tensor* const> inputs);

namespace {
// True when A is the scalar side on the innermost axis where the shapes, aligned at the end, are
// not both 1; also when there is no such axis.
bool a_is_scalar_side(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) return a.empty();
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 1; i <= common; ++i) {
    const std::int64_t size_a = a[a.size() - i];
    const std::int64_t size_b = b[b.size() - i];
    if (size_a != 1 || size_b != 1) return size_a == 1;
  }
  return true;
}

void check_ratios(ResolveContext& context, float first, float second) {
  if (std::isfinite(first) && std::isfinite(second)) return;
  context.error(DiagKind::kQuant, "the ratio of input and output scales must be finite in float32");
}

void check_factors(ResolveContext& context, const QLinearBinary& params) {
  if (params.kind == QLinearBinary::Kind::kAdd) {
    check_sum_ratios(context, params.a.scale, params.b.scale, params.c.scale);
    return;
  }
  const float product = params.a.scale * params.b.scale;
  check_ratios(context, product / params.c.scale, product / params.c.scale);
}

constexpr QuantizationInputs kParametersA{"A", 1, 2};
constexpr QuantizationInputs kParametersB{"B", 4, 5};
constexpr QuantizationInputs kParametersC{"C", 6, 7};

bool known_at_compile_time(const ResolveContext& context) {
  for (const QuantizationInputs& inputs : {kParametersA, kParametersB, kParametersC}) {
    for (const int i : {inputs.scale, inputs.zero_point}) {
      if (context.has_input(i) && context.constant(i) == nullptr) return false;
    }
  }
  return true;
}

// Types and shapes of scales and zero points that arrive at run time.
void check_parameters(ResolveContext& context, DType dtype) {
  for (const QuantizationInputs& inputs : {kParametersA, kParametersB, kParametersC}) {
    if (!context.has_input(inputs.scale)) {
      context.error(DiagKind::kGraph,
                    cat("input ", inputs.scale, " (", inputs.operand, "_scale) is missing"));
    } else {
      resolve_quantization(context, inputs, dtype, per_tensor_shapes());
    }
  }
}

void resolve_qlinear_binary(ResolveContext& context) {
  if (!check_dtype(context, 0, "A", {DType::kU8, DType::kS8})) return;
  if (!context.has_input(3)) {
    context.error(DiagKind::kGraph, "input 3 (B) is missing");
    return;
  }
  if (!check_dtype(context, 3, "B", {context.dtype(0)})) return;
  const DType dtype = context.dtype(0);
  const bool known = known_at_compile_time(context);
  const ScalarQuantization unknown;
  if (!known) check_parameters(context, dtype);
  if (context.failed()) return;
  const auto a = known ? scalar_quantization(context, kParametersA, dtype) : unknown;
  const auto b = known ? scalar_quantization(context, kParametersB, dtype) : unknown;
  const auto c = known ? scalar_quantization(context, kParametersC, dtype) : unknown;
  if (!a || !b || !c) return;
  const auto shape = broadcast_shape(context.shape(0), context.shape(3));
  if (!shape) {
    context.error(DiagKind::kShape, cat("shapes ", to_string(context.shape(0)), " and ",
                                        to_string(context.shape(3)), " do not broadcast"));
    return;
  }
  const auto limits = read_result_limits(context, dtype);
  if (!limits) return;
  const bool add = context.node().op_type == "QLinearAdd";
  QLinearBinary params{add ? QLinearBinary::Kind::kAdd : QLinearBinary::Kind::kMul,
                       dtype,
                       *a,
                       *b,
                       *c,
                       *shape,
                       broadcast_view(context.shape(0), *shape),
                       broadcast_view(context.shape(3), *shape),
                       add && a_is_scalar_side(context.shape(0), context.shape(3)),
                       !known,
                       limits->low,
                       limits->high};
  if (known) check_factors(context, params);
  context.set_output(0, dtype, *shape);
  context.set_params(std::move(params));
}

constexpr OpName kQLinearBinaryNames[] = {{kMicrosoft, "QLinearAdd", 1},
                                          {kMicrosoft, "QLinearMul", 1},
                                          {kEtch, "QLinearAdd", 1},
                                          {kEtch, "QLinearMul", 1}};
}  // namespace

void check_sum_ratios(ResolveContext& context, float a_scale, float b_scale, float y_scale) {
  const float first = a_scale / y_scale, second = b_scale / y_scale;
  check_ratios(context, first, second);
  // Four products of a ratio and at most 255: no intermediate sum is larger.
  if (context.failed() || std::isfinite(1024 * (first + second))) return;
  context.error(DiagKind::kQuant,
                "sums of two elements, in steps of the output, must be finite in float32");
}

bool product_may_leave_int32(const QLinearBinary& params) {
  const auto least = static_cast<int>(min_of(params.dtype));
  const auto most = static_cast<int>(max_of(params.dtype));
  FloatInterval exact;  // at most 17 bits
  for (const int a : {least - params.a.zero_point, most - params.a.zero_point}) {
    for (const int b : {least - params.b.zero_point, most - params.b.zero_point}) {
      exact.low = std::min(exact.low, static_cast<float>(a * b));
      exact.high = std::max(exact.high, static_cast<float>(a * b));
    }
  }
  const float scale = params.a.scale * params.b.scale / params.c.scale;
  const auto zero = static_cast<float>(params.c.zero_point);
  return !fits_int32(sum(product(exact, scale), {zero, zero}));
}

bool equals_floats(const QLinearBinary& params) {
  const QLinearBinaryFunction function(params);
  const auto least = static_cast<int>(min_of(params.dtype));
  const auto most = static_cast<int>(max_of(params.dtype));
  for (int a = least; a <= most; ++a) {
    const float real_a = dequantized(a, params.a);
    for (int b = least; b <= most; ++b) {
      const float real_b = dequantized(b, params.b);
      const bool add = params.kind == QLinearBinary::Kind::kAdd;
      const int y = quantized(add ? real_a + real_b : real_a * real_b, params.c, params.dtype);
      if (function(a, b) != std::clamp(y, params.low, params.high)) return false;
    }
  }
  return true;
}

void lower_qlinear_binary(Lowering& lowering, const Node& node);

extern const OpDef kOp_qlinear_binary = {.folder = "qlinear_binary",
                                         .names = kQLinearBinaryNames,
                                         .arity = {.min_inputs = 2, .max_inputs = 8},
                                         .resolve = resolve_qlinear_binary,
                                         .reference = qlinear_binary_reference,
                                         .lower = lower_qlinear_binary,
                                         .elements = pointwise_rule,
                                         .layout = any_order_rule};

}  // namespace etch
