// Resolves CumSum and CumProd; see op.h.
#include "compiler/ops/cumulative/op.h"

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> cumulative_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_cumulative(Lowering& lowering, const Node& node);

namespace {

void resolve_cumulative(ResolveContext& context) {
  if (!check_dtype(context, 0, "x", {DType::kF32, DType::kS32, DType::kS64})) return;
  const bool exclusive = context.int_attr("exclusive", 0) != 0;
  const bool reverse = context.int_attr("reverse", 0) != 0;
  const auto given = constant_ints(context, 1, "axis");
  if (!given) return;
  const std::int64_t rank = rank_of(context.shape(0));
  const auto axis = given->size() == 1 ? normal_axis(given->front(), rank) : std::nullopt;
  if (!axis) {
    context.input_error(DiagKind::kShape, 1, "axis",
                        cat("must be one number in [", -rank, ", ", rank - 1, "]"));
    return;
  }
  context.set_output(0, context.dtype(0), context.shape(0));
  context.set_params(
      Cumulative{context.node().op_type == "CumProd", as_index(*axis), exclusive, reverse});
}

constexpr OpName kCumulativeNames[] = {{kOnnx, "CumSum", 11}, {kOnnx, "CumProd", 26}};
}  // namespace

extern const OpDef kOp_cumulative = {.folder = "cumulative",
                                     .names = kCumulativeNames,
                                     .arity = {.min_inputs = 2, .max_inputs = 2},
                                     .resolve = resolve_cumulative,
                                     .reference = cumulative_reference,
                                     .lower = lower_cumulative};

}  // namespace etch
