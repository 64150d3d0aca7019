// Resolves Add, Sub, Mul, Div, Mod, Max, Min, Sum and Mean; see op.h.
#include "compiler/ops/arithmetic/op.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> arithmetic_reference(const Node& node, std::span<const Tensor* const> inputs);

namespace {
Arithmetic::Kind kind_of(const std::string& op_type) {
  if (op_type == "Add" || op_type == "Sum") return Arithmetic::Kind::kAdd;
  if (op_type == "Sub") return Arithmetic::Kind::kSub;
  if (op_type == "Mul") return Arithmetic::Kind::kMul;
  if (op_type == "Max") return Arithmetic::Kind::kMax;
  if (op_type == "Min") return Arithmetic::Kind::kMin;
  if (op_type == "Mean") return Arithmetic::Kind::kMean;
  if (op_type == "BitwiseAnd") return Arithmetic::Kind::kBitAnd;
  if (op_type == "BitwiseOr") return Arithmetic::Kind::kBitOr;
  if (op_type == "BitwiseXor") return Arithmetic::Kind::kBitXor;
  ETCH_CHECK(op_type == "Div");
  return Arithmetic::Kind::kDiv;
}

bool divides_by_constant_zero(const ResolveContext& context) {
  if (context.node().op_type != "Div" && context.node().op_type != "Mod") return false;
  const Tensor* divisor = context.constant(1);
  if (divisor == nullptr || divisor->dtype() == DType::kF32) return false;
  const std::vector<std::int64_t> values = divisor->integers();
  return std::find(values.begin(), values.end(), 0) != values.end();
}

bool check_count(ResolveContext& context) {
  const std::string& type = context.node().op_type;
  const bool any_count = type == "Max" || type == "Min" || type == "Sum" || type == "Mean";
  const int count = context.input_count();
  if (!any_count && count != 2) {
    context.error(DiagKind::kGraph, cat("must have 2 inputs, has ", count));
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (context.has_input(i)) continue;
    context.error(DiagKind::kGraph, cat("input ", i, " is required, but omitted"));
    return false;
  }
  return true;
}

// The shape that all inputs broadcast to; nothing after an error.
std::optional<Shape> common_shape(ResolveContext& context) {
  Shape shape = context.shape(0);
  for (int i = 1; i < context.input_count(); ++i) {
    const auto wider = broadcast_shape(shape, context.shape(i));
    if (!wider) {
      context.error(DiagKind::kShape, cat("shapes ", to_string(shape), " and ",
                                          to_string(context.shape(i)), " do not broadcast"));
      return std::nullopt;
    }
    shape = *wider;
  }
  return shape;
}

bool check_type(ResolveContext& context) {
  const std::string& type = context.node().op_type;
  if (type == "Sum" || type == "Mean") return check_dtype(context, 0, "data_0", {DType::kF32});
  // (passes/expand makes int32 and int64 of the others)
  if (type.starts_with("Bit")) {
    return check_dtype(context, 0, "A",
                       {DType::kS32, DType::kS64, DType::kU8, DType::kS8, DType::kU16, DType::kS16,
                        DType::kU32, DType::kU64});
  }
  return check_dtype(context, 0, "A",
                     {DType::kF32, DType::kS32, DType::kS64, DType::kU8, DType::kS8, DType::kU16,
                      DType::kS16, DType::kU32, DType::kU64});
}

// What Mod means; nothing after an error.
std::optional<Arithmetic::Kind> mod_kind(ResolveContext& context) {
  const std::int64_t fmod = context.int_attr("fmod", 0);
  if (fmod == 0 && context.dtype(0) == DType::kF32) {
    context.attr_error("fmod", "must be 1 for float32, got 0");
    return std::nullopt;
  }
  return fmod == 0 ? Arithmetic::Kind::kMod : Arithmetic::Kind::kRemainder;
}

std::optional<Arithmetic::Kind> shift_kind(ResolveContext& context) {
  const std::string direction = context.string_attr("direction", "");
  if (direction == "LEFT") return Arithmetic::Kind::kShiftLeft;
  if (direction == "RIGHT") return Arithmetic::Kind::kShiftRight;
  context.attr_error("direction", cat("must be LEFT or RIGHT, got '", printable(direction), "'"));
  return std::nullopt;
}

std::optional<Arithmetic::Kind> kind_of_node(ResolveContext& context) {
  const std::string& type = context.node().op_type;
  if (type == "Mod") return mod_kind(context);
  return type == "BitShift" ? shift_kind(context) : kind_of(type);
}

void resolve_arithmetic(ResolveContext& context) {
  if (!check_count(context) || !check_type(context)) return;
  const auto kind = kind_of_node(context);
  if (!kind) return;
  if (!check_same_dtype(context, context.input_count())) return;
  const auto shape = common_shape(context);
  if (!shape) return;
  if (divides_by_constant_zero(context)) {
    context.input_error(DiagKind::kTensor, 1, "B", "must not hold 0, the divisor of integers");
    return;
  }
  context.set_output(0, context.dtype(0), *shape);
  Arithmetic params{*kind, *shape, {}};
  for (int i = 0; i < context.input_count(); ++i)
    params.inputs.push_back(broadcast_view(context.shape(i), *shape));
  context.set_params(std::move(params));
}

constexpr OpName kArithmeticNames[] = {
    {kOnnx, "Add", 7},         {kOnnx, "Sub", 7},        {kOnnx, "Mul", 7},
    {kOnnx, "Div", 7},         {kOnnx, "Max", 6},        {kOnnx, "Min", 6},
    {kOnnx, "Sum", 6},         {kOnnx, "Mean", 6},       {kOnnx, "Mod", 10},
    {kOnnx, "BitwiseAnd", 18}, {kOnnx, "BitwiseOr", 18}, {kOnnx, "BitwiseXor", 18},
    {kOnnx, "BitShift", 11}};
}  // namespace

void lower_arithmetic(Lowering& lowering, const Node& node);

extern const OpDef kOp_arithmetic = {.folder = "arithmetic",
                                     .names = kArithmeticNames,
                                     .arity = {.min_inputs = 1, .max_inputs = 1024},
                                     .resolve = resolve_arithmetic,
                                     .reference = arithmetic_reference,
                                     .lower = lower_arithmetic,
                                     .elements = pointwise_rule,
                                     .layout = any_order_rule};

}  // namespace etch
