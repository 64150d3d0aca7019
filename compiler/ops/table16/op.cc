// Resolves Table16; see op.h.
#include "compiler/ops/table16/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> table16_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
void resolve_table16(ResolveContext& context) {
  const bool x = check_dtype(context, 0, "X", {DType::kU16, DType::kS16});
  const bool table = x && check_dtype(context, 1, "table", {context.dtype(0)});
  Table16 params{context.string_attr("of", "table")};
  if (context.constant(1) == nullptr) context.needs_constant(1, "table");
  if (context.shape(1) != Shape{kTable16Entries}) {
    context.input_error(DiagKind::kShape, 1, "table",
                        cat("must be [65536], got ", to_string(context.shape(1))));
  }
  if (!table) return;
  context.set_output(0, context.dtype(0), context.shape(0));
  context.set_params(std::move(params));
}

constexpr OpName kTable16Names[] = {{kEtch, "Table16", 1}};
}  // namespace

void lower_table16(Lowering& lowering, const Node& node);

extern const OpDef kOp_table16 = {.folder = "table16",
                                  .names = kTable16Names,
                                  .arity = {.min_inputs = 2, .max_inputs = 2},
                                  .resolve = resolve_table16,
                                  .reference = table16_reference,
                                  .lower = lower_table16,
                                  .layout = any_order_rule};

}  // namespace etch
