// Resolves AveragePool; see op.h.
#include "compiler/ops/average_pool/op.h"

#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> average_pool_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_average_pool(Lowering& lowering, const Node& node);

namespace {
void resolve_average_pool(ResolveContext& context) {
  const std::int64_t opset = context.opset();
  if (!check_dtype(context, 0, "X", {DType::kF32})) return;
  const bool counted = context.int_attr("count_include_pad", 0) != 0;
  auto geometry = resolve_pool_geometry(context, ConvLayout::kChannelsFirst,
                                        {.ceil_mode = opset >= 10, .dilations = opset >= 19});
  if (!geometry) return;
  context.set_output(0, context.dtype(0), geometry->output_shape());
  context.set_params(
      AveragePool{std::move(*geometry), counted ? CountPadding::kYes : CountPadding::kNo});
}

constexpr OpName kAveragePoolNames[] = {{kOnnx, "AveragePool", 7}};
}  // namespace

extern const OpDef kOp_average_pool = {.folder = "average_pool",
                                       .names = kAveragePoolNames,
                                       .arity = {.min_inputs = 1, .max_inputs = 1},
                                       .resolve = resolve_average_pool,
                                       .reference = average_pool_reference,
                                       .lower = lower_average_pool,
                                       .layout = channels_last_rule};

}  // namespace etch
