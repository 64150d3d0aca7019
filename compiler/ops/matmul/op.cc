// Checks and shapes of MatMul; see op.h.
#include "compiler/ops/matmul/op.h"

#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kMatmulNames[] = {{kOnnx, "MatMul", 1}};

void resolve_matmul(ResolveContext& context) {
  const bool a_ok = check_float32(context, 0, "A");
  const bool b_ok = check_float32(context, 1, "B");
  const auto geometry = resolve_matmul_geometry(context, 0, 1);
  if (!geometry || !a_ok || !b_ok) return;
  context.set_output(0, DType::kF32, geometry->output);
  context.set_params(MatMulParams{*geometry});
}

}  // namespace

extern const OpDef kOp_matmul = {.folder = "matmul",
                                 .names = kMatmulNames,
                                 .arity = {.min_inputs = 2, .max_inputs = 2},
                                 .resolve = resolve_matmul,
                                 .reference = reference_matmul,
                                 .lower = lower_matmul};

}  // namespace etch
