// Checks and shapes of QGemm; see op.h.
#include "compiler/ops/qgemm/op.h"

#include <cmath>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"

namespace etch {

namespace {

constexpr OpName kQgemmNames[] = {{kMicrosoft, "QGemm", 1}, {kEtch, "QGemm", 1}};

enum QGemmInput { kA, kAScale, kAZeroPoint, kB, kBScale, kBZeroPoint, kC, kYScale, kYZeroPoint };

// alpha <= 0 would turn the order of quantized values around; no tool writes it.
float read_alpha(ResolveContext& context) {
  const float alpha = context.float_attr("alpha", 1.0F);
  if (!std::isfinite(alpha) || !(alpha > 0)) {
    context.attr_error("alpha", cat("must be finite and > 0, got ", decimal(alpha)));
  }
  return alpha;
}

void check_qgemm_types(ResolveContext& context) {
  check_dtype(context, kA, "A", {DType::kU8, DType::kS8});
  check_dtype(context, kB, "B", {DType::kU8, DType::kS8});
  if (context.has_input(kC)) check_dtype(context, kC, "C", {DType::kS32});
  if (context.has_input(kYScale) != context.has_input(kYZeroPoint)) {
    context.error(DiagKind::kGraph, "y_scale and y_zero_point must be given both or neither");
  } else if (context.has_input(kYZeroPoint)) {
    check_dtype(context, kYZeroPoint, "y_zero_point", {DType::kU8, DType::kS8});
  }
}

void resolve_quantizations(ResolveContext& context, QGemmParams& params) {
  params.a = resolve_quantization(context, {"a", kAScale, kAZeroPoint}, context.dtype(kA),
                                  per_tensor_shapes());
  params.b = resolve_quantization(context, {"b", kBScale, kBZeroPoint}, context.dtype(kB),
                                  per_channel_shapes(params.geometry.cols));
  const bool quantized = params.output == QGemmOutput::kQuantized;
  if (quantized) {
    params.y = resolve_quantization(context, {"y", kYScale, kYZeroPoint},
                                    context.dtype(kYZeroPoint), per_tensor_shapes());
  }
  if (!params.a || !params.b || (quantized && !params.y)) return;
  const Quantization* y = quantized ? &*params.y : nullptr;
  check_combined_scale(context, qgemm_scale(params.alpha, *params.a, *params.b, y));
}

void resolve_qgemm(ResolveContext& context) {
  QGemmParams params;
  params.alpha = read_alpha(context);
  check_qgemm_types(context);
  const auto geometry = resolve_gemm_geometry(context, GemmInputs{kA, kB, kC});
  if (!geometry || context.failed()) return;
  params.geometry = *geometry;
  if (!context.has_input(kYZeroPoint)) params.output = QGemmOutput::kFloat;
  resolve_quantizations(context, params);
  const bool quantized = params.output == QGemmOutput::kQuantized;
  if (quantized) {
    const auto limits = read_result_limits(context, context.dtype(kYZeroPoint));
    if (!limits) return;
    params.limits = *limits;
  }
  context.set_output(0, quantized ? context.dtype(kYZeroPoint) : DType::kF32,
                     {geometry->rows, geometry->cols});
  context.set_params(std::move(params));
}

}  // namespace

std::vector<float> qgemm_scale(float alpha, const Quantization& a, const Quantization& b,
                               const Quantization* y) {
  const float alpha_a = alpha * a.scale[0];
  std::vector<float> out;
  out.reserve(b.scale.size());
  for (const float b_scale : b.scale) {
    const float product = alpha_a * b_scale;
    out.push_back(y == nullptr ? product : product / y->scale[0]);
  }
  return out;
}

void lower_qgemm(Lowering& lowering, const Node& node);

namespace {
std::optional<Quantization> reads_as_qgemm(const Node& node) {
  return params_of<QGemmParams>(node).a;
}

std::optional<Quantization> writes_as_qgemm(const Node& node) {
  return params_of<QGemmParams>(node).y;
}
}  // namespace

extern const OpDef kOp_qgemm = {.folder = "qgemm",
                                .names = kQgemmNames,
                                .arity = {.min_inputs = 6, .max_inputs = 9},
                                .resolve = resolve_qgemm,
                                .reference = reference_qgemm,
                                .lower = lower_qgemm,
                                .reads = reads_as_qgemm,
                                .writes = writes_as_qgemm};

}  // namespace etch
