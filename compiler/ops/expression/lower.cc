// Lowering of Expression: every operator becomes a few values of one step.
#include <cmath>
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/kernels/rows/expression.h"
#include "compiler/ops/activation/op.h"
#include "compiler/ops/arithmetic/op.h"
#include "compiler/ops/batch_normalization/op.h"
#include "compiler/ops/cast/op.h"
#include "compiler/ops/clip/op.h"
#include "compiler/ops/dequantize_linear/op.h"
#include "compiler/ops/expression/op.h"
#include "compiler/ops/float_function/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/quantize_linear/op.h"

namespace etch {

namespace {
using Kind = ExpressionValue::Kind;

Kind kind_of(Arithmetic::Kind kind) {
  switch (kind) {
    case Arithmetic::Kind::kAdd:
      return Kind::kAdd;
    case Arithmetic::Kind::kSub:
      return Kind::kSub;
    case Arithmetic::Kind::kMul:
      return Kind::kMul;
    case Arithmetic::Kind::kDiv:
      return Kind::kDiv;
    case Arithmetic::Kind::kMax:
      return Kind::kMax;
    case Arithmetic::Kind::kMin:
      return Kind::kMin;
    default:
      ETCH_CHECK(false);
  }
}

class Lowered {
 public:
  Lowered(Lowering& lowering, const Node& node)
      : lowering_(lowering), node_(node), builder_(lowering, node) {}

  void run() {
    const Expression& expression = params_of<Expression>(node_);
    std::string summary;
    for (const ExpressionPart& part : expression.parts) {
      summary += cat(summary.empty() ? "" : ", ", part.node.op_type);
      results_.push_back(value_of(part));
    }
    const Shape& shape = *lowering_.value(node_.outputs[0]).shape;
    builder_.finish(results_.back(), zero_point_, "expression",
                    cat(summary, " of ", counted(element_count(shape), "element")));
  }

 private:
  int operand(const ExpressionPart& part, std::size_t i) {
    const ExpressionOperand& from = part.inputs[i];
    ETCH_CHECK(from.from != ExpressionOperand::From::kOmitted);
    return from.from == ExpressionOperand::From::kPart
               ? results_[static_cast<std::size_t>(from.index)]
               : builder_.input(from.index);
  }

  int value_of(const ExpressionPart& part) {
    const std::any& params = part.node.params;
    if (const auto* arithmetic = std::any_cast<Arithmetic>(&params)) {
      int value = operand(part, 0);
      for (std::size_t i = 1; i < part.inputs.size(); ++i)
        value = builder_.apply(kind_of(arithmetic->kind), value, operand(part, i));
      return value;
    }
    if (const auto* function = std::any_cast<FloatFunction>(&params)) return of(part, *function);
    if (const auto* clip = std::any_cast<Clip>(&params)) return of(part, *clip);
    if (const auto* batch = std::any_cast<BatchNormalization>(&params)) return of(part, *batch);
    if (std::any_cast<Cast>(&params) != nullptr)
      return builder_.apply(Kind::kToReal, operand(part, 0));
    if (const auto* x = std::any_cast<DequantizeLinearParams>(&params)) return of(part, *x);
    if (const auto* y = std::any_cast<QuantizeLinearParams>(&params)) return of(part, *y);
    const int x = operand(part, 0);
    if (const auto* activation = std::any_cast<Activation>(&params)) {
      if (activation->kind == Activation::Kind::kRelu)
        return builder_.apply(Kind::kAtLeast, x, builder_.real(0.0F));
      const int alpha = builder_.real(activation->alpha);
      return builder_.apply(Kind::kUnlessNegative, x, builder_.apply(Kind::kMul, alpha, x));
    }
    ETCH_CHECK(part.node.op_type == "PRelu");
    const int scaled = builder_.apply(Kind::kMul, operand(part, 1), x);
    return builder_.apply(Kind::kUnlessNegative, x, scaled);
  }

  int of(const ExpressionPart& part, const FloatFunction& params) {
    const int x = operand(part, 0);
    if (params.function == Function::kNeg) return builder_.apply(Kind::kNeg, x);
    if (params.function == Function::kAbs) return builder_.apply(Kind::kAbs, x);
    const int product = builder_.apply(Kind::kMul, builder_.real(params.alpha), x);
    const int line = builder_.apply(Kind::kAdd, product, builder_.real(params.beta));
    const int above = builder_.apply(Kind::kAtLeast, line, builder_.real(0.0F));
    const int inside = builder_.apply(Kind::kAtMost, above, builder_.real(1.0F));
    if (params.function == Function::kHardSigmoid) return inside;
    ETCH_CHECK(params.function == Function::kHardSwish);
    return builder_.apply(Kind::kMul, x, inside);
  }

  int of(const ExpressionPart& part, const Clip& params) {
    int value = operand(part, 0);
    if (std::isfinite(params.low)) {
      const int low = builder_.real(static_cast<float>(params.low));
      value = builder_.apply(Kind::kAtLeast, value, low);
    }
    if (std::isfinite(params.high)) {
      const int high = builder_.real(static_cast<float>(params.high));
      value = builder_.apply(Kind::kAtMost, value, high);
    }
    return value;
  }

  int of(const ExpressionPart& part, const BatchNormalization& params) {
    std::vector<const Tensor*> inputs{nullptr};
    for (std::size_t i = 1; i < part.inputs.size(); ++i)
      inputs.push_back(&lowering_.constant(node_, part.inputs[i].index));
    const Affine affine = batch_affine(params, inputs);
    const auto along_channels = [&](const std::vector<float>& values) {
      return builder_.vector(Tensor::of<float>({params.channels}, values), 1 + missing_axes(part));
    };
    const int product = builder_.apply(Kind::kMul, operand(part, 0), along_channels(affine.factor));
    return builder_.apply(Kind::kAdd, product, along_channels(affine.offset));
  }

  bool has(const ExpressionPart& part, std::size_t i) const {
    return i < part.inputs.size() && part.inputs[i].from != ExpressionOperand::From::kOmitted;
  }

  // How many axes of the output come before the part's first.
  std::int64_t missing_axes(const ExpressionPart& part) const {
    const Shape& shape = *lowering_.value(node_.outputs[0]).shape;
    return static_cast<std::int64_t>(shape.size()) - static_cast<std::int64_t>(part.shape.size());
  }

  // A scale or zero point, along `axis` of the part's own shape.
  int parameter(const ExpressionPart& part, std::size_t i, const QuantizationAxis& axis) {
    if (part.inputs[i].from == ExpressionOperand::From::kPart) return operand(part, i);
    const bool per_channel = axis.granularity == QuantizationGranularity::kAxis;
    return builder_.parameter(part.inputs[i].index,
                              per_channel ? axis.axis + missing_axes(part) : -1);
  }

  int of(const ExpressionPart& part, const DequantizeLinearParams& params) {
    const int x = operand(part, 0);
    const int scale = parameter(part, 1, params.axis);
    const Value& from =
        lowering_.value(node_.inputs[static_cast<std::size_t>(part.inputs[0].index)]);
    const int stored = *from.dtype == DType::kS8 ? 128 : 0;
    const int zero = has(part, 2) ? parameter(part, 2, params.axis) : builder_.integer(stored);
    return builder_.dequantized(x, scale, zero);
  }

  int of(const ExpressionPart& part, const QuantizeLinearParams& params) {
    const int x = operand(part, 0);
    const int quotient = builder_.apply(Kind::kDiv, x, parameter(part, 1, params.axis));
    const bool known = !has(part, 2) || lowering_.is_constant(node_, part.inputs[2].index);
    if (!known) {
      zero_point_ = 0;
      return builder_.rounded_with(quotient, parameter(part, 2, params.axis));
    }
    const Tensor* const zero =
        has(part, 2) ? &lowering_.constant(node_, part.inputs[2].index) : nullptr;
    zero_point_ = zero_points_of(zero).at(0);
    return builder_.rounded(quotient, params.type, *zero_point_);
  }

  Lowering& lowering_;
  const Node& node_;
  ExpressionBuilder builder_;
  std::vector<int> results_;
  std::optional<int> zero_point_;
};
}  // namespace

void lower_expression(Lowering& lowering, const Node& node) { Lowered(lowering, node).run(); }

}  // namespace etch
