// Checks and shapes of MatMulInteger; see op.h.
#include "compiler/ops/matmul_integer/op.h"

#include "compiler/ops/arguments.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kMatmulIntegerNames[] = {{kOnnx, "MatMulInteger", 10}};

void resolve_matmul_integer(ResolveContext& context) {
  const bool a_ok = check_dtype(context, 0, "A", {DType::kU8, DType::kS8});
  const bool b_ok = check_dtype(context, 1, "B", {DType::kU8, DType::kS8});
  const auto geometry = resolve_matmul_geometry(context, 0, 1);
  if (!geometry || !a_ok || !b_ok) return;
  MatMulIntegerParams params{*geometry, {}, {}};
  params.a_zero_point =
      resolve_zero_points(context, 2, "a_zero_point", context.dtype(0), per_row_shapes(*geometry));
  params.b_zero_point = resolve_zero_points(context, 3, "b_zero_point", context.dtype(1),
                                            per_column_shapes(*geometry));
  context.set_output(0, DType::kS32, geometry->output);
  context.set_params(std::move(params));
}

}  // namespace

void lower_matmul_integer(Lowering& lowering, const Node& node);

extern const OpDef kOp_matmul_integer = {.folder = "matmul_integer",
                                         .names = kMatmulIntegerNames,
                                         .arity = {.min_inputs = 2, .max_inputs = 4},
                                         .resolve = resolve_matmul_integer,
                                         .reference = reference_matmul_integer,
                                         .lower = lower_matmul_integer};

}  // namespace etch
