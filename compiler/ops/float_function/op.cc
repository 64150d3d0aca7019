// Resolves the functions of one float; see op.h.
#include "compiler/ops/float_function/op.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "compiler/base/text.h"
#include "compiler/ops/arguments.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> float_function_reference(const Node& node,
                                             std::span<const Tensor* const> inputs);

namespace {
// An operator with the attributes it has and their defaults; null: it has none of that name.
struct Spelling {
  std::string_view op_type;
  Function function;
  const char* alpha_name = nullptr;
  float alpha = 0;
  const char* beta_name = nullptr;
  float beta = 0;
};

constexpr Spelling kSpellings[] = {
    {"Abs", Function::kAbs},
    {"Acos", Function::kAcos},
    {"Acosh", Function::kAcosh},
    {"Asin", Function::kAsin},
    {"Asinh", Function::kAsinh},
    {"Atan", Function::kAtan},
    {"Atanh", Function::kAtanh},
    {"Ceil", Function::kCeil},
    {"Celu", Function::kCelu, "alpha", 1.0F},
    {"Cos", Function::kCos},
    {"Cosh", Function::kCosh},
    {"Elu", Function::kElu, "alpha", 1.0F},
    {"Erf", Function::kErf},
    {"Exp", Function::kExp},
    {"Floor", Function::kFloor},
    {"Gelu", Function::kGelu},
    {"HardSigmoid", Function::kHardSigmoid, "alpha", 0.2F, "beta", 0.5F},
    {"HardSwish", Function::kHardSwish, nullptr, 1.0F / 6.0F, nullptr, 0.5F},
    {"Log", Function::kLog},
    {"Mish", Function::kMish},
    {"Neg", Function::kNeg},
    {"QuickGelu", Function::kQuickGelu, "alpha", 1.702F},
    {"Reciprocal", Function::kReciprocal},
    {"Selu", Function::kSelu, "alpha", 1.67326319217681884765625F, "gamma",
     1.05070102214813232421875F},
    {"Sign", Function::kSign},
    {"Sin", Function::kSin},
    {"Sinh", Function::kSinh},
    {"Softplus", Function::kSoftplus},
    {"Softsign", Function::kSoftsign},
    {"Sqrt", Function::kSqrt},
    {"Tan", Function::kTan},
    {"Tanh", Function::kTanh},
    {"ThresholdedRelu", Function::kThresholdedRelu, "alpha", 1.0F},
};

const Spelling& spelling_of(const std::string& op_type) {
  const auto* found = std::ranges::find(kSpellings, op_type, &Spelling::op_type);
  ETCH_CHECK(found != std::end(kSpellings));
  return *found;
}

float read(ResolveContext& context, const char* name, float fallback) {
  if (name == nullptr) return fallback;
  const float value = context.float_attr(name, fallback);
  if (!std::isfinite(value)) context.attr_error(name, "must be finite");
  return value;
}

bool type_fits(ResolveContext& context, Function function) {
  if (function == Function::kNeg) {
    return check_dtype(context, 0, "X",
                       {DType::kF32, DType::kS8, DType::kS16, DType::kS32, DType::kS64});
  }
  if (function == Function::kAbs || function == Function::kSign) {
    return check_dtype(context, 0, "X",
                       {DType::kF32, DType::kS8, DType::kS16, DType::kS32, DType::kS64, DType::kU8,
                        DType::kU16, DType::kU32, DType::kU64});
  }
  return check_dtype(context, 0, "X", {DType::kF32});
}

Function gelu(ResolveContext& context) {
  if (context.node().domain != kOnnx) return Function::kGelu;
  const std::string how = context.string_attr("approximate", "none");
  if (how != "none" && how != "tanh")
    context.attr_error("approximate", cat("must be none or tanh, got '", printable(how), "'"));
  return how == "tanh" ? Function::kGeluTanh : Function::kGelu;
}

void resolve_float_function(ResolveContext& context) {
  const Spelling& spelling = spelling_of(context.node().op_type);
  if (!type_fits(context, spelling.function)) return;
  FloatFunction params{spelling.function, read(context, spelling.alpha_name, spelling.alpha),
                       read(context, spelling.beta_name, spelling.beta)};
  if (params.function == Function::kCelu && params.alpha == 0.0F)
    context.attr_error("alpha", "must not be 0");
  if (params.function == Function::kGelu) params.function = gelu(context);
  context.set_output(0, context.dtype(0), context.shape(0));
  context.set_params(params);
}

constexpr OpName kFloatFunctionNames[] = {{kOnnx, "Abs", 6},
                                          {kOnnx, "Ceil", 6},
                                          {kOnnx, "Celu", 12},
                                          {kOnnx, "Elu", 6},
                                          {kOnnx, "Erf", 9},
                                          {kOnnx, "Exp", 6},
                                          {kOnnx, "Floor", 6},
                                          {kOnnx, "Gelu", 20},
                                          {kOnnx, "HardSigmoid", 6},
                                          {kOnnx, "HardSwish", 14},
                                          {kOnnx, "Log", 6},
                                          {kOnnx, "Mish", 18},
                                          {kOnnx, "Neg", 6},
                                          {kOnnx, "Reciprocal", 6},
                                          {kOnnx, "Selu", 6},
                                          {kOnnx, "Sign", 9},
                                          {kOnnx, "Softplus", 1},
                                          {kOnnx, "Softsign", 1},
                                          {kOnnx, "Sqrt", 6},
                                          {kOnnx, "Tanh", 6},
                                          {kMicrosoft, "Gelu", 1},
                                          {kOnnx, "ThresholdedRelu", 10},
                                          {kMicrosoft, "QuickGelu", 1},
                                          {kOnnx, "Acos", 7},
                                          {kOnnx, "Acosh", 9},
                                          {kOnnx, "Asin", 7},
                                          {kOnnx, "Asinh", 9},
                                          {kOnnx, "Atan", 7},
                                          {kOnnx, "Atanh", 9},
                                          {kOnnx, "Cos", 7},
                                          {kOnnx, "Cosh", 9},
                                          {kOnnx, "Sin", 7},
                                          {kOnnx, "Sinh", 9},
                                          {kOnnx, "Tan", 7}};
}  // namespace

void lower_float_function(Lowering& lowering, const Node& node);

extern const OpDef kOp_float_function = {.folder = "float_function",
                                         .names = kFloatFunctionNames,
                                         .arity = {.min_inputs = 1, .max_inputs = 1},
                                         .resolve = resolve_float_function,
                                         .reference = float_function_reference,
                                         .lower = lower_float_function,
                                         .elements = pointwise_rule,
                                         .layout = any_order_rule};

}  // namespace etch
