// Checks and shapes of Gemm; see op.h.
#include "compiler/ops/gemm/op.h"

#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kGemmNames[] = {{kOnnx, "Gemm", 7}};

float read_factor(ResolveContext& context, const char* name) {
  const float factor = context.float_attr(name, 1.0F);
  if (!std::isfinite(factor)) {
    context.attr_error(name, cat("must be finite, got ", decimal(factor)));
  }
  return factor;
}

void resolve_gemm(ResolveContext& context) {
  GemmParams params;
  params.alpha = read_factor(context, "alpha");
  params.beta = read_factor(context, "beta");
  check_float32(context, 0, "A");
  check_float32(context, 1, "B");
  if (context.has_input(2)) check_float32(context, 2, "C");
  if (!context.has_input(2) && context.node().domain == kOnnx && context.opset() < 11) {
    context.error(DiagKind::kGraph, "input 2 (C) is required before operator set 11");
  }
  const auto geometry = resolve_gemm_geometry(context, GemmInputs{0, 1, 2});
  if (!geometry) return;
  params.geometry = *geometry;
  context.set_output(0, DType::kF32, {geometry->rows, geometry->cols});
  context.set_params(params);
}

}  // namespace

extern const OpDef kOp_gemm = {.folder = "gemm",
                               .names = kGemmNames,
                               .arity = {.min_inputs = 2, .max_inputs = 3},
                               .resolve = resolve_gemm,
                               .reference = reference_gemm,
                               .lower = lower_gemm};

}  // namespace etch
