// Checks and shapes of QLinearProduct16; see op.h.
#include "compiler/ops/qlinear_product16/op.h"

#include "compiler/ops/arguments.h"
#include "compiler/ops/result_limits.h"

namespace etch {

namespace {

constexpr OpName kQLinearProduct16Names[] = {{kEtch, "QLinearProduct16", 1}};
constexpr int kLeft = 0, kRight = 5;
constexpr std::int64_t kDeepest = std::int64_t{1} << 20;  // so that sums are below 2^52

void resolve_qlinear_product16(ResolveContext& context) {
  if (!check_dtype(context, kLeft, "a", {DType::kU16, DType::kS16})) return;
  const DType type = context.dtype(kLeft);
  if (!check_dtype(context, kRight, "b", {type})) return;
  const auto a = scalar_quantization(context, {"a", 1, 2}, type);
  const auto y = scalar_quantization(context, {"y", 3, 4}, type);
  const auto b = scalar_quantization(context, {"b", 6, 7}, type);
  const auto geometry = resolve_matmul_geometry(context, kLeft, kRight);
  const auto limits = read_result_limits(context, type);
  if (!a || !b || !y || !geometry || !limits) return;
  QLinearProduct16 params{type, *a, *b, *y, *geometry, limits->low, limits->high};
  const int shift = params.scale().shift();
  if (shift < 1 || shift > 61)
    context.error(DiagKind::kQuant, "the ratio of its scales is extreme");
  if (geometry->depth < 1 || geometry->depth > kDeepest)
    context.error(DiagKind::kShape, "rows of a have no element, or more than 2^20");
  context.set_output(0, type, geometry->output);
  context.set_params(std::move(params));
}

}  // namespace

extern const OpDef kOp_qlinear_product16 = {.folder = "qlinear_product16",
                                            .names = kQLinearProduct16Names,
                                            .arity = {.min_inputs = 8, .max_inputs = 8},
                                            .resolve = resolve_qlinear_product16,
                                            .reference = reference_qlinear_product16,
                                            .lower = lower_qlinear_product16};

}  // namespace etch
