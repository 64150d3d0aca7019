// Resolves ScatterRows; see op.h.
#include "compiler/ops/scatter_rows/op.h"

#include <optional>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> scatter_rows_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_scatter_rows(Lowering& lowering, const Node& node);

namespace {

std::optional<ScatterRows::Kind> kind_of(ResolveContext& context) {
  const std::string name = context.string_attr("reduction", "none");
  if (name == "none") return ScatterRows::Kind::kReplace;
  if (name == "add") return ScatterRows::Kind::kAdd;
  if (name == "mul") return ScatterRows::Kind::kMul;
  if (name == "max") return ScatterRows::Kind::kMax;
  if (name == "min") return ScatterRows::Kind::kMin;
  context.attr_error("reduction",
                     cat("must be none, add, mul, max or min, got '", printable(name), "'"));
  return std::nullopt;
}

void resolve_scatter_rows(ResolveContext& context) {
  const auto kind = kind_of(context);
  if (!kind) return;
  const bool is_narrow = *kind == ScatterRows::Kind::kReplace && bytes_of(context.dtype(0)) < 4;
  const bool has_type =
      is_narrow ? check_dtype(context, 0, "data",
                              {DType::kU8, DType::kS8, DType::kBool, DType::kU16, DType::kS16})
                : check_dtype(context, 0, "data", {DType::kF32, DType::kS32, DType::kS64});
  if (!has_type || !check_dtype(context, 1, "indices", {DType::kS64}) ||
      !check_dtype(context, 2, "updates", {context.dtype(0)})) {
    return;
  }
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  const bool fits = data.size() == 2 && indices.size() == 1 && data[0] > 0 &&
                    context.shape(2) == Shape{indices[0], data[1]};
  if (!fits) {
    context.error(DiagKind::kShape,
                  cat("indices of shape ", to_string(indices), " and updates of shape ",
                      to_string(context.shape(2)), " do not fit data of shape ", to_string(data)));
    return;
  }
  context.set_output(0, context.dtype(0), data);
  context.set_params(ScatterRows{*kind, data[0], data[1]});
}

constexpr OpName kScatterRowsNames[] = {{kEtch, "ScatterRows", 1}};
}  // namespace

extern const OpDef kOp_scatter_rows = {.folder = "scatter_rows",
                                       .names = kScatterRowsNames,
                                       .arity = {.min_inputs = 3, .max_inputs = 3},
                                       .resolve = resolve_scatter_rows,
                                       .reference = scatter_rows_reference,
                                       .lower = lower_scatter_rows};

}  // namespace etch
