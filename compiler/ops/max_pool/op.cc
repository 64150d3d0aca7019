// Resolves MaxPool; see op.h.
#include "compiler/ops/max_pool/op.h"

#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> max_pool_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
bool type_is_allowed(ResolveContext& context) {
  if (context.node().domain == kEtch)
    return check_dtype(context, 0, "X", {DType::kS16, DType::kU16});
  if (context.opset() < 12) return check_dtype(context, 0, "X", {DType::kF32});
  return check_dtype(context, 0, "X", {DType::kF32, DType::kS8, DType::kU8});
}

void resolve_max_pool(ResolveContext& context) {
  constexpr std::int64_t kLatest = 12;
  const std::int64_t opset = context.node().domain == kEtch ? kLatest : context.opset();
  if (!type_is_allowed(context)) return;
  if (context.node().outputs.size() > 1 && context.node().outputs[1] != kNoValue) {
    context.error(DiagKind::kUnsupported, "the output Indices is not supported");
    return;
  }
  if (opset >= 8) context.ignore_attr("storage_order");
  auto geometry = resolve_pool_geometry(context, ConvLayout::kChannelsFirst,
                                        {.ceil_mode = opset >= 10, .dilations = opset >= 10});
  if (!geometry) return;
  context.set_output(0, context.dtype(0), geometry->output_shape());
  context.set_params(MaxPool{std::move(*geometry)});
}

constexpr OpName kMaxPoolNames[] = {{kOnnx, "MaxPool", 1}, {kEtch, "MaxPool", 1}};
}  // namespace

void lower_max_pool(Lowering& lowering, const Node& node);

extern const OpDef kOp_max_pool = {
    .folder = "max_pool",
    .names = kMaxPoolNames,
    .arity = {.min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 2},
    .resolve = resolve_max_pool,
    .reference = max_pool_reference,
    .lower = lower_max_pool,
    .layout = channels_last_rule};

}  // namespace etch
