// Resolves Constant; see op.h.
#include "compiler/ops/constant/op.h"

#include "compiler/base/text.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> constant_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
template <class T>
Tensor list_of(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}

// The values of all attributes that give one.
std::vector<Tensor> values_of(ResolveContext& context) {
  std::vector<Tensor> values;
  if (auto tensor = context.tensor_attr("value")) values.push_back(std::move(*tensor));
  if (context.opset() < 12) return values;
  if (context.has_attr("value_float")) {
    values.push_back(Tensor::of<float>({}, {context.float_attr("value_float", 0)}));
  }
  if (context.has_attr("value_int")) {
    values.push_back(Tensor::of<std::int64_t>({}, {context.int_attr("value_int", 0)}));
  }
  if (const auto list = context.floats_attr("value_floats")) values.push_back(list_of(*list));
  if (const auto list = context.ints_attr("value_ints")) values.push_back(list_of(*list));
  return values;
}

void resolve_constant(ResolveContext& context) {
  for (const char* name : {"value_string", "value_strings", "sparse_value"}) {
    if (!context.has_attr(name)) continue;
    context.ignore_attr(name);
    context.error(DiagKind::kUnsupported, cat(name, " is not supported"));
    return;
  }
  std::vector<Tensor> values = values_of(context);
  if (values.size() != 1) {
    if (!context.failed()) {
      context.error(DiagKind::kAttr, cat("exactly one value must be given, got ", values.size()));
    }
    return;
  }
  context.set_output(0, values[0].dtype(), values[0].shape());
  context.set_params(Constant{std::move(values[0])});
}

constexpr OpName kConstantNames[] = {{kOnnx, "Constant", 1}};
}  // namespace

extern const OpDef kOp_constant = {.folder = "constant",
                                   .names = kConstantNames,
                                   .arity = {.min_inputs = 0, .max_inputs = 0},
                                   .resolve = resolve_constant,
                                   .reference = constant_reference};

}  // namespace etch
