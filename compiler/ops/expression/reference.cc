// Expression by its operators' own reference functions; see op.h.
#include "compiler/ops/dynamic_quantize_linear/op.h"
#include "compiler/ops/expression/op.h"
#include "compiler/ops/op.h"

namespace etch {

std::vector<Tensor> results_of(const std::vector<ExpressionPart>& parts,
                               std::span<const Tensor* const> inputs) {
  std::vector<Tensor> results;
  results.reserve(parts.size());  // operands point into it
  for (const ExpressionPart& part : parts) {
    std::vector<const Tensor*> operands;
    for (const ExpressionOperand& operand : part.inputs) {
      const auto index = static_cast<std::size_t>(operand.index);
      const bool omitted = operand.from == ExpressionOperand::From::kOmitted;
      const bool input = operand.from == ExpressionOperand::From::kInput;
      operands.push_back(omitted ? nullptr : input ? inputs[index] : &results[index]);
    }
    results.push_back(part.node.op->reference(part.node, operands).at(0));
  }
  return results;
}

std::vector<Tensor> expression_reference(const Node& node, std::span<const Tensor* const> inputs) {
  const std::vector<Tensor> results = results_of(params_of<Expression>(node).parts, inputs);
  std::vector<Tensor> outputs{results.back()};
  if (node.outputs.size() > 1) {
    const Tensor* const y = &results.back();
    std::vector<Tensor> quantized = reference_dynamic_quantize_linear({}, {&y, 1});
    outputs.push_back(quantized[1]);
    outputs.push_back(quantized[2]);
  }
  return outputs;
}

}  // namespace etch
