// Resolves Table; see op.h.
#include "compiler/ops/table/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> table_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
void resolve_table(ResolveContext& context) {
  const bool x = check_dtype(context, 0, "X", {DType::kU8, DType::kS8});
  const bool table = check_dtype(context, 1, "table", {DType::kU8, DType::kS8});
  Table params{context.string_attr("of", "table")};
  if (context.constant(1) == nullptr) {
    context.needs_constant(1, "table");
  }
  if (context.shape(1) != Shape{256}) {
    context.input_error(DiagKind::kShape, 1, "table",
                        cat("must be [256], got ", to_string(context.shape(1))));
  }
  if (!x || !table) return;
  context.set_output(0, context.dtype(1), context.shape(0));
  context.set_params(std::move(params));
}

constexpr OpName kTableNames[] = {{kEtch, "Table", 1}};
}  // namespace

void lower_table(Lowering& lowering, const Node& node);

extern const OpDef kOp_table = {.folder = "table",
                                .names = kTableNames,
                                .arity = {.min_inputs = 2, .max_inputs = 2},
                                .resolve = resolve_table,
                                .reference = table_reference,
                                .lower = lower_table,
                                .layout = any_order_rule};

}  // namespace etch
