// Resolves comparisons and logic; see op.h.
#include "compiler/ops/compare/op.h"

#include <array>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ir/geometry/strided.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> compare_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_compare(Lowering& lowering, const Node& node);

namespace {
using Kind = Compare::Kind;

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"Equal", Kind::kEqual},     {"Less", Kind::kLess},
    {"Greater", Kind::kGreater}, {"LessOrEqual", Kind::kLessOrEqual},
    {"And", Kind::kAnd},         {"GreaterOrEqual", Kind::kGreaterOrEqual},
    {"Or", Kind::kOr},           {"Xor", Kind::kXor},
    {"Not", Kind::kNot}};

Kind kind_of(std::string_view type) {
  for (const auto& [name, kind] : kKinds) {
    if (name == type) return kind;
  }
  ETCH_CHECK(false);
}

bool is_logic(Kind kind) {
  return kind == Kind::kAnd || kind == Kind::kOr || kind == Kind::kXor || kind == Kind::kNot;
}

void resolve_compare(ResolveContext& context) {
  const Kind kind = kind_of(context.node().op_type);
  const int count = kind == Kind::kNot ? 1 : 2;
  if (context.input_count() != count || !context.has_input(count - 1)) {
    context.error(DiagKind::kGraph, cat("must have ", count, " inputs"));
    return;
  }
  if (is_logic(kind) && !check_dtype(context, 0, "A", {DType::kBool})) return;
  if (!check_same_dtype(context, count)) return;
  auto shape = count == 1 ? std::optional(context.shape(0))
                          : broadcast_shape(context.shape(0), context.shape(1));
  if (!shape) {
    context.error(DiagKind::kShape, cat("shapes ", to_string(context.shape(0)), " and ",
                                        to_string(context.shape(1)), " do not broadcast"));
    return;
  }
  context.set_output(0, DType::kBool, *shape);
  context.set_params(Compare{kind, *shape});
}

constexpr OpName kCompareNames[] = {
    {kOnnx, "Equal", 7},        {kOnnx, "Less", 7}, {kOnnx, "Greater", 7},
    {kOnnx, "LessOrEqual", 12}, {kOnnx, "And", 7},  {kOnnx, "GreaterOrEqual", 12},
    {kOnnx, "Or", 7},           {kOnnx, "Xor", 7},  {kOnnx, "Not", 1}};
}  // namespace

extern const OpDef kOp_compare = {.folder = "compare",
                                  .names = kCompareNames,
                                  .arity = {.min_inputs = 1, .max_inputs = 2},
                                  .resolve = resolve_compare,
                                  .reference = compare_reference,
                                  .lower = lower_compare,
                                  .elements = pointwise_rule,
                                  .layout = any_order_rule};

}  // namespace etch
