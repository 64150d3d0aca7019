// Resolves GlobalAveragePool and GlobalMaxPool; see op.h.
#include "compiler/ops/global_pool/op.h"

#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> global_pool_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
void resolve_global_pool(ResolveContext& context) {
  if (!check_dtype(context, 0, "X", {DType::kF32})) return;
  const Shape& x = context.shape(0);
  if (x.size() < 3 || std::find(x.begin() + 2, x.end(), 0) != x.end()) {
    context.error(DiagKind::kShape,
                  cat("x must be [N, C, ...] with elements in each plane, got ", to_string(x)));
    return;
  }
  GlobalPool params;
  const bool average = context.node().op_type == "GlobalAveragePool";
  params.kind = average ? GlobalPool::Kind::kAverage : GlobalPool::Kind::kMax;
  params.plane = element_count(Shape(x.begin() + 2, x.end()));
  params.shape = x;
  std::fill(params.shape.begin() + 2, params.shape.end(), 1);
  context.set_output(0, context.dtype(0), params.shape);
  context.set_params(std::move(params));
}

constexpr OpName kGlobalPoolNames[] = {{kOnnx, "GlobalAveragePool", 1},
                                       {kOnnx, "GlobalMaxPool", 1}};
}  // namespace

void lower_global_pool(Lowering& lowering, const Node& node);

extern const OpDef kOp_global_pool = {.folder = "global_pool",
                                      .names = kGlobalPoolNames,
                                      .arity = {.min_inputs = 1, .max_inputs = 1},
                                      .resolve = resolve_global_pool,
                                      .reference = global_pool_reference,
                                      .lower = lower_global_pool};

}  // namespace etch
