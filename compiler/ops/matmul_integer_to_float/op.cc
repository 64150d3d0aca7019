// Checks and shapes of MatMulIntegerToFloat and DynamicQuantizeMatMul; see op.h.
#include "compiler/ops/matmul_integer_to_float/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/quantization.h"

namespace etch {

namespace {

constexpr OpName kMatmulIntegerToFloatNames[] = {{kMicrosoft, "MatMulIntegerToFloat", 1},
                                                 {kMicrosoft, "DynamicQuantizeMatMul", 1}};

void check_bias(ResolveContext& context, int input, std::int64_t columns) {
  if (!context.has_input(input) || !check_dtype(context, input, "bias", {DType::kF32})) return;
  if (context.shape(input) == Shape{columns}) return;
  context.input_error(DiagKind::kShape, input, "bias",
                      cat("must be [", columns, "], got ", to_string(context.shape(input))));
}

void resolve_matmul_integer_to_float(ResolveContext& context) {
  MatMulIntegerToFloat params;
  params.quantizes_a = context.node().op_type == "DynamicQuantizeMatMul";
  params.inputs = params.quantizes_a ? IntegerToFloatInputs{-1, 2, -1, 3, 4}
                                     : IntegerToFloatInputs{2, 3, 4, 5, 6};
  const bool a_ok = params.quantizes_a ? check_dtype(context, 0, "A", {DType::kF32})
                                       : check_dtype(context, 0, "A", {DType::kU8, DType::kS8});
  const bool b_ok = check_dtype(context, 1, "B", {DType::kU8, DType::kS8});
  const auto geometry = resolve_matmul_geometry(context, 0, 1);
  if (!geometry || !a_ok || !b_ok) return;
  const IntegerToFloatInputs& at = params.inputs;
  if (!params.quantizes_a) {
    resolve_quantization(context, {"a", at.a_scale, at.a_zero_point}, context.dtype(0),
                         per_tensor_shapes());
  }
  resolve_quantization(context, {"b", at.b_scale, at.b_zero_point}, context.dtype(1),
                       per_channel_shapes(geometry->cols));
  check_bias(context, at.bias, geometry->cols);
  if (context.failed()) return;
  params.geometry = *geometry;
  context.set_output(0, DType::kF32, geometry->output);
  context.set_params(std::move(params));
}

}  // namespace

extern const OpDef kOp_matmul_integer_to_float = {.folder = "matmul_integer_to_float",
                                                  .names = kMatmulIntegerToFloatNames,
                                                  .arity = {.min_inputs = 3, .max_inputs = 7},
                                                  .resolve = resolve_matmul_integer_to_float,
                                                  .reference = reference_matmul_integer_to_float};

}  // namespace etch
