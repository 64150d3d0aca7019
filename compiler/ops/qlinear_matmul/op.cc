// Checks and shapes of QLinearMatMul; see op.h.
#include "compiler/ops/qlinear_matmul/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"

namespace etch {

namespace {

constexpr OpName kQLinearMatmulNames[] = {{kOnnx, "QLinearMatMul", 10},
                                          {kEtch, "QLinearMatMul", 1}};

bool check_matmul_types(ResolveContext& context) {
  const bool a = check_dtype(context, 0, "a", {DType::kU8, DType::kS8});
  const bool b = check_dtype(context, 3, "b", {DType::kU8, DType::kS8});
  const bool y = check_dtype(context, 7, "y_zero_point", {DType::kU8, DType::kS8});
  return a && b && y;
}

// True when the scale or zero point at `input` has one entry per row (of a or y).
bool refuse_per_row(ResolveContext& context, int input, const char* role,
                    const MatMulGeometry& geometry) {
  const Shape& shape = context.shape(input);
  if (geometry.rows == 1 || element_count(shape) != geometry.rows) return false;
  context.input_error(DiagKind::kUnsupported, input, role,
                      cat("quantization per row is not supported, got ", to_string(shape)));
  return true;
}

bool refuse_per_row(ResolveContext& context, const MatMulGeometry& geometry) {
  return refuse_per_row(context, 1, "a_scale", geometry) ||
         refuse_per_row(context, 2, "a_zero_point", geometry) ||
         refuse_per_row(context, 6, "y_scale", geometry) ||
         refuse_per_row(context, 7, "y_zero_point", geometry);
}

void resolve_qlinear_matmul(ResolveContext& context) {
  const bool types_ok = check_matmul_types(context);
  const auto geometry = resolve_matmul_geometry(context, 0, 3);
  if (!geometry || !types_ok || refuse_per_row(context, *geometry)) return;
  const DType y_type = context.dtype(7);
  const auto limits = read_result_limits(context, y_type);
  if (!limits) return;
  QLinearMatMulParams params{*geometry, {}, {}, {}, *limits, {}};
  params.a = resolve_quantization(context, {"a", 1, 2}, context.dtype(0), per_tensor_shapes());
  params.b =
      resolve_quantization(context, {"b", 4, 5}, context.dtype(3), per_column_shapes(*geometry));
  params.y = resolve_quantization(context, {"y", 6, 7}, y_type, per_tensor_shapes());
  if (params.a && params.b && params.y) {
    check_combined_scale(context, combined_scale(*params.a, *params.b, *params.y));
  }
  context.set_output(0, y_type, geometry->output);
  context.set_params(std::move(params));
}

}  // namespace

void lower_qlinear_matmul(Lowering& lowering, const Node& node);

namespace {
std::optional<Quantization> reads_as_matmul(const Node& node) {
  return params_of<QLinearMatMulParams>(node).a;
}

std::optional<Quantization> writes_as_matmul(const Node& node) {
  return params_of<QLinearMatMulParams>(node).y;
}
}  // namespace

extern const OpDef kOp_qlinear_matmul = {.folder = "qlinear_matmul",
                                         .names = kQLinearMatmulNames,
                                         .arity = {.min_inputs = 8, .max_inputs = 8},
                                         .resolve = resolve_qlinear_matmul,
                                         .reference = reference_qlinear_matmul,
                                         .lower = lower_qlinear_matmul,
                                         .reads = reads_as_matmul,
                                         .writes = writes_as_matmul};

}  // namespace etch
