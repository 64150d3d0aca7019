// Resolves BitCast, computes it by copying bytes, and lowers it to another type of a view; op.h.
#include "compiler/ops/bit_cast/op.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/lower/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {
bool has_bits(DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kU8:
    case DType::kS8:
    case DType::kU16:
    case DType::kS16:
    case DType::kU32:
    case DType::kS32:
    case DType::kU64:
    case DType::kS64:
      return true;
    default:
      return false;
  }
}

void resolve_bit_cast(ResolveContext& context) {
  if (!context.has_attr("to")) {
    context.attr_error("to", "is missing");
    return;
  }
  const std::int64_t code = context.int_attr("to", 0);
  if (context.failed()) return;
  const DType from = context.dtype(0);
  const auto to = dtype_from_onnx(code);
  const bool serves = to && (has_bits(*to) || *to == from) &&
                      (has_bits(from) || from == DType::kBool) && bytes_of(from) == bytes_of(*to);
  if (!serves) {
    context.error(DiagKind::kUnsupported,
                  cat("the bits of ", name_of(from), " cannot be read as ",
                      to ? std::string(name_of(*to)) : cat("ONNX data type ", code),
                      ": both must be float32 or integers of 8 to 64 bits, of one width (bool "
                      "only as source; float16, bfloat16 and float64 are float32 here)"));
    return;
  }
  context.set_params(BitCast{from, *to});
  context.set_output(0, *to, context.shape(0));
}

std::vector<Tensor> reference_bit_cast(const Node& node, std::span<const Tensor* const> inputs) {
  Tensor out(params_of<BitCast>(node).to, inputs[0]->shape());
  std::ranges::copy(inputs[0]->bytes(), out.mutable_bytes().begin());
  std::vector<Tensor> outputs;
  outputs.push_back(std::move(out));
  return outputs;
}

void lower_bit_cast(Lowering& lowering, const Node& node) {
  View view = lowering.view(node, 0);
  view.dtype = params_of<BitCast>(node).to;
  lowering.set_view(node, 0, std::move(view));
}

constexpr OpName kBitCastNames[] = {{kOnnx, "BitCast", 26}};
}  // namespace

extern const OpDef kOp_bit_cast = {.folder = "bit_cast",
                                   .names = kBitCastNames,
                                   .arity = {.min_inputs = 1, .max_inputs = 1},
                                   .resolve = resolve_bit_cast,
                                   .reference = reference_bit_cast,
                                   .lower = lower_bit_cast,
                                   .elements = pointwise_rule,
                                   .layout = any_order_rule};

}  // namespace etch
