// Expression (org.etch): a tree of elementwise operators as one node, so that it is one pass over
// memory. fuse_expressions() makes it; no file has it. The inputs are those of the operators that
// are not results of one of them; the output is the last operator's. Each operator keeps its own
// arithmetic, types and shapes: the result is what they would give one after the other.
//
//   operators   Add, Sub, Mul, Div, Max, Min, Sum, Neg, Abs, Relu, LeakyRelu, PRelu, Clip,
//               HardSigmoid, HardSwish, BatchNormalization with constant statistics on float32;
//               Cast of int32 to float32; DequantizeLinear of 8 bits; QuantizeLinear as the last
//   outputs     the last operator's result; with three, also DynamicQuantizeLinear's scale and zero
//               point for it, which is float32
//   shapes      each broadcasts to that of the output
#pragma once

#include <map>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace etch {

// Where an operator of an expression gets an input from.
struct ExpressionOperand {
  enum class From { kInput, kPart, kOmitted };
  From from = From::kOmitted;
  int index = 0;  // of the node's inputs, or of the parts
};

// One operator; its node is resolved, and names no values.
struct ExpressionPart {
  Node node;
  std::vector<ExpressionOperand> inputs;
  Shape shape;  // of its result
};

// Where value `id` comes from: a part that is `known`, or an input, which is added where it is new.
ExpressionOperand operand_of(ValueId id, std::map<ValueId, ExpressionOperand>& known,
                             std::vector<ValueId>& inputs);

// What every part gives by its own reference function, in their order.
std::vector<Tensor> results_of(const std::vector<ExpressionPart>& parts,
                               std::span<const Tensor* const> inputs);

struct Expression {
  std::vector<ExpressionPart> parts;  // in topological order; the last makes the output
};

// Whether `node` of `graph`, which is resolved, can be part of an expression; `last`: as its end.
bool can_be_part(const Graph& graph, const Node& node, bool last);

}  // namespace etch
