// Resolves ConstantOfShape; see op.h.
#include "compiler/ops/constant_of_shape/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> constant_of_shape_reference(const Node& node,
                                                std::span<const Tensor* const> inputs);

namespace {
void resolve_constant_of_shape(ResolveContext& context) {
  Tensor value = context.tensor_attr("value").value_or(Tensor(DType::kF32, {1}));
  const auto shape = constant_ints(context, 0, "shape");
  if (!shape) return;
  if (value.size() != 1) {
    context.attr_error("value", cat("must have one element, got ", value.size()));
    return;
  }
  context.set_output(0, value.dtype(), *shape);
  context.set_params(ConstantOfShape{std::move(value), *shape});
}

constexpr OpName kConstantOfShapeNames[] = {{kOnnx, "ConstantOfShape", 9}};
}  // namespace

extern const OpDef kOp_constant_of_shape = {.folder = "constant_of_shape",
                                            .names = kConstantOfShapeNames,
                                            .arity = {.min_inputs = 1, .max_inputs = 1},
                                            .resolve = resolve_constant_of_shape,
                                            .reference = constant_of_shape_reference};

}  // namespace etch
