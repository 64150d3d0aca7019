// What can be part of an Expression; see op.h.
#include "compiler/ops/expression/op.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/cast/op.h"
#include "compiler/ops/clip/op.h"
#include "compiler/ops/dequantize_linear/op.h"
#include "compiler/ops/float_function/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/quantize_linear/op.h"

namespace etch {

std::vector<Tensor> expression_reference(const Node& node, std::span<const Tensor* const> inputs);
void lower_expression(Lowering& lowering, const Node& node);

namespace {
void resolve_expression(ResolveContext& context) {
  context.error(DiagKind::kUnsupported, "is made by the compiler; no file can have it");
}

bool is_known(const Node& node) {
  if (const auto* arithmetic = std::any_cast<Arithmetic>(&node.params)) {
    using K = Arithmetic::Kind;
    const K kind = arithmetic->kind;
    return kind != K::kMod && kind != K::kRemainder && kind != K::kMean && node.inputs.size() > 1;
  }
  if (const auto* function = std::any_cast<FloatFunction>(&node.params)) {
    using F = Function;
    return function->function == F::kAbs || function->function == F::kNeg ||
           function->function == F::kHardSigmoid || function->function == F::kHardSwish;
  }
  if (const auto* clip = std::any_cast<Clip>(&node.params)) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    return clip->low < kInfinite && clip->high > -kInfinite &&
           (std::isfinite(clip->low) || std::isfinite(clip->high));
  }
  return node.op_type == "Relu" || node.op_type == "LeakyRelu" || node.op_type == "PRelu";
}

const Value* input_of(const Graph& graph, const Node& node, std::size_t i) {
  const bool has = i < node.inputs.size() && node.inputs[i] != kNoValue;
  return has ? &graph.value(node.inputs[i]) : nullptr;
}

// Of BatchNormalization.
bool has_constant_statistics(const Graph& graph, const Node& node) {
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId id) { return graph.value(id).constant != nullptr; });
}

// Scale and zero point of input or output 0, per tensor or per channel: the scale known or not, the
// zero point a constant or, where `at_run_time`, one uint8.
bool parameters_fit(const Graph& graph, const Node& node, const QuantizationAxis& axis,
                    bool per_channel) {
  if (axis.granularity == QuantizationGranularity::kBlock) return false;
  if (!per_channel && axis.granularity != QuantizationGranularity::kTensor) return false;
  const Value* const zero_point = input_of(graph, node, 2);
  if (zero_point == nullptr || zero_point->constant != nullptr) return true;
  return element_count(*zero_point->shape) == 1 && *zero_point->dtype == DType::kU8;
}
}  // namespace

ExpressionOperand operand_of(ValueId id, std::map<ValueId, ExpressionOperand>& known,
                             std::vector<ValueId>& inputs) {
  if (id == kNoValue) return {};
  if (const auto found = known.find(id); found != known.end()) return found->second;
  inputs.push_back(id);
  return known[id] = {ExpressionOperand::From::kInput, static_cast<int>(inputs.size()) - 1};
}

bool can_be_part(const Graph& graph, const Node& node, bool last) {
  if (node.outputs.size() != 1 || !is_pointwise(node) || node.domain == kNhwc) return false;
  const Value* const x = input_of(graph, node, 0);
  const Value& y = graph.value(node.outputs[0]);
  if (x == nullptr || y.constant != nullptr || element_count(*y.shape) == 0) return false;
  if (const auto* cast = std::any_cast<Cast>(&node.params))
    return cast->from == DType::kS32 && cast->to == DType::kF32 && x->constant == nullptr;
  if (const auto* params = std::any_cast<DequantizeLinearParams>(&node.params)) {
    const bool from_port = std::ranges::count(graph.inputs, node.inputs[0]) > 0;
    return is_8bit(*x->dtype) && x->constant == nullptr && !from_port &&
           parameters_fit(graph, node, params->axis, true);
  }
  if (const auto* params = std::any_cast<QuantizeLinearParams>(&node.params))
    return last && is_8bit(params->type) && parameters_fit(graph, node, params->axis, false);
  if (node.op_type == "BatchNormalization") return has_constant_statistics(graph, node);
  return *x->dtype == DType::kF32 && *y.dtype == DType::kF32 && is_known(node);
}

namespace {
// Of QuantizeLinear at the end.
std::optional<Quantization> writes(const Node& node) {
  const Node& last = params_of<Expression>(node).parts.back().node;
  return last.op->writes == nullptr ? std::nullopt : last.op->writes(last);
}

constexpr OpName kExpressionNames[] = {{kEtch, "Expression", 1}};
}  // namespace

extern const OpDef kOp_expression = {.folder = "expression",
                                     .names = kExpressionNames,
                                     .arity = {.min_inputs = 1, .max_inputs = 64, .max_outputs = 3},
                                     .resolve = resolve_expression,
                                     .reference = expression_reference,
                                     .lower = lower_expression,
                                     .layout = any_order_rule,
                                     .writes = writes};

}  // namespace etch
