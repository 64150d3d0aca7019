// Resolves LRN; see op.h.
#include "compiler/ops/lrn/op.h"

#include <cmath>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> lrn_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_lrn(Lowering& lowering, const Node& node);

namespace {
float finite_attr(ResolveContext& context, const char* name, float fallback) {
  const float value = context.float_attr(name, fallback);
  if (!std::isfinite(value)) context.attr_error(name, cat("must be finite, got ", decimal(value)));
  return value;
}

void resolve_lrn(ResolveContext& context) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t size = context.int_attr("size", 0);
  if (size < 1 || size > kMost) {
    context.attr_error("size", cat("is required in [1, ", kMost, "], got ", size));
  }
  Lrn params;
  params.factor = finite_attr(context, "alpha", 1e-4F) / static_cast<float>(size);
  params.beta = finite_attr(context, "beta", 0.75F);
  params.bias = finite_attr(context, "bias", 1.0F);
  if (!check_dtype(context, 0, "X", {DType::kF32})) return;
  const Shape& x = context.shape(0);
  if (x.size() < 3) {
    context.error(DiagKind::kShape, cat("X must be [N, C, ...], got ", to_string(x)));
  }
  if (context.failed()) return;
  params.images = x[0];
  params.channels = x[1];
  params.plane = element_count(Shape(x.begin() + 2, x.end()));
  params.before = (size - 1) / 2;
  params.after = size - 1 - params.before;
  context.set_output(0, DType::kF32, x);
  context.set_params(params);
}

constexpr OpName kLrnNames[] = {{kOnnx, "LRN", 1}};
}  // namespace

extern const OpDef kOp_lrn = {.folder = "lrn",
                              .names = kLrnNames,
                              .arity = {.min_inputs = 1, .max_inputs = 1},
                              .resolve = resolve_lrn,
                              .reference = lrn_reference,
                              .lower = lower_lrn,
                              .layout = any_order_rule};

}  // namespace etch
