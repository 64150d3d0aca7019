// Resolves Cast; see op.h.
#include "compiler/ops/cast/op.h"

#include "compiler/base/text.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> cast_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
void resolve_cast(ResolveContext& context) {
  if (!context.has_attr("to")) {
    context.attr_error("to", "is missing");
    return;
  }
  if (context.opset() >= 19) context.ignore_attr("saturate");
  const std::int64_t code = context.int_attr("to", 0);
  if (context.failed()) return;
  const auto to = dtype_from_onnx(code);
  if (!to) {
    context.error(DiagKind::kUnsupported, cat("cannot convert to ONNX data type ", code));
    return;
  }
  const DType from = context.dtype(0);
  const bool real =
      from == DType::kF32 || from == DType::kF64 || from == DType::kF16 || from == DType::kBF16;
  if (real && (*to == DType::kU4 || *to == DType::kS4)) {
    context.error(DiagKind::kUnsupported,
                  cat(name_of(from), " to ", name_of(*to),
                      " rounds and overflows differently everywhere; use QuantizeLinear"));
    return;
  }
  context.set_output(0, *to, context.shape(0));
  context.set_params(Cast{context.dtype(0), *to});
}

constexpr OpName kCastNames[] = {{kOnnx, "Cast", 6}};
}  // namespace

void lower_cast(Lowering& lowering, const Node& node);

extern const OpDef kOp_cast = {.folder = "cast",
                               .names = kCastNames,
                               .arity = {.min_inputs = 1, .max_inputs = 1},
                               .resolve = resolve_cast,
                               .reference = cast_reference,
                               .lower = lower_cast,
                               .elements = pointwise_rule,
                               .layout = any_order_rule};

}  // namespace etch
