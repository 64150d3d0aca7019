// See infinite_scale.h. NaN and infinities follow IEEE 754 in Div, Mul and all that reads them
// (docs/spec/float.md), so that the parts need no case of their own.
#include "compiler/passes/compositions/infinite_scale.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "compiler/ir/op_def.h"

namespace etch {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// x and the node's own zero point, with the scale 1.
std::vector<ValueId> with_scale_one(Parts& parts, ValueId x) {
  Tensor one(DType::kF32, parts.shape(1));
  std::ranges::fill(one.as<float>(), 1.0F);
  std::vector<ValueId> inputs{x, parts.constant(std::move(one))};
  if (parts.has_input(2)) inputs.push_back(parts.input(2));
  return inputs;
}

void quantize(Parts& parts) {
  const ValueId x = parts.add("Div", {parts.input(0), parts.scalar(kInfinity)});
  parts.add("QuantizeLinear", with_scale_one(parts, x), parts.take_all());
}

void dequantize(Parts& parts) {
  const ValueId x =
      parts.add("DequantizeLinear", with_scale_one(parts, parts.input(0)), parts.take_all());
  parts.add("Mul", {x, parts.scalar(kInfinity)});
}

constexpr Rule kQuantize{"QuantizeLinear", quantize, 3, 1};
constexpr Rule kDequantize{"DequantizeLinear", dequantize, 3, 1};

bool has_infinite_scale(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return false;
  const Tensor* const scale = graph.value(node.inputs[1]).constant.get();
  return scale != nullptr && scale->dtype() == DType::kF32 && scale->size() == 1 &&
         scale->as<float>()[0] == kInfinity;
}

}  // namespace

const Rule* infinite_scale_rule(const Graph& graph, const Node& node) {
  if (node.domain != kOnnx && node.domain != kMicrosoft) return nullptr;
  const bool quantizes = node.op_type == kQuantize.op_type;
  if (!quantizes && node.op_type != kDequantize.op_type) return nullptr;
  if (!has_infinite_scale(graph, node)) return nullptr;
  return quantizes ? &kQuantize : &kDequantize;
}

}  // namespace etch
