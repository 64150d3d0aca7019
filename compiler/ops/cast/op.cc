// Resolves Cast; see op.h.
#include "compiler/ops/cast/op.h"

#include <optional>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> cast_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
// The element type of a TensorProto::DataType, where Cast can write it.
std::optional<DType> target_type(std::int64_t onnx_type) {
  switch (onnx_type) {
    case 1:
      return DType::kF32;
    case 2:
      return DType::kU8;
    case 3:
      return DType::kS8;
    case 4:
      return DType::kU16;
    case 5:
      return DType::kS16;
    case 6:
      return DType::kS32;
    case 7:
      return DType::kS64;
    case 9:
      return DType::kBool;
    case 11:
      return DType::kF64;
    case 12:
      return DType::kU32;
    case 13:
      return DType::kU64;
    case 21:
      return DType::kU4;
    case 22:
      return DType::kS4;
    default:
      return std::nullopt;
  }
}

void resolve(ResolveContext& context) {
  if (!context.has_attr("to")) {
    context.attr_error("to", "is missing");
    return;
  }
  if (context.opset() >= 19) context.ignore_attr("saturate");
  const std::int64_t code = context.int_attr("to", 0);
  const auto to = target_type(code);
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

constexpr OpName kNames[] = {{kOnnx, "Cast", 6}};
}  // namespace

void lower_cast(Lowering& lowering, const Node& node);

extern const OpDef kOp_cast = {.folder = "cast",
                               .names = kNames,
                               .arity = {.min_inputs = 1, .max_inputs = 1},
                               .resolve = resolve,
                               .reference = cast_reference,
                               .lower = lower_cast,
                               .elements = pointwise_rule,
                               .layout = any_order_rule};

}  // namespace etch
