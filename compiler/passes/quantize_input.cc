// See quantize_input.h.
#include "compiler/passes/quantize_input.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text.h"
#include "compiler/ops/op.h"

namespace etch {

namespace {

std::string place_of(const QuantizeInput& input) {
  return cat("input '", printable(input.name), "'");
}

// The position among graph.inputs, or null with a report.
ValueId* find_input(Graph& graph, const QuantizeInput& input, Sink& sink) {
  const auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [&](ValueId id) { return graph.value(id).name == input.name; });
  if (found != graph.inputs.end()) return &*found;
  sink.error(DiagKind::kName, place_of(input), "cannot be quantized: the model has no such input");
  return nullptr;
}

bool check_type(const Value& value, const QuantizeInput& input, Sink& sink) {
  const std::string_view type = tensorflow_name(*value.dtype);
  if (type.empty()) {
    sink.error(DiagKind::kType, place_of(input),
               cat("is ", name_of(*value.dtype), ", only int8, uint8, int16, uint16 and int32 can ",
                   "come from a QuantizeV2"));
    return false;
  }
  if (!input.type || *input.type == *value.dtype) return true;
  sink.error(DiagKind::kType, place_of(input),
             cat("is ", type, ", not ", tensorflow_name(*input.type)));
  return false;
}

int next_index(const Graph& graph) {
  int next = 0;
  for (const Node& node : graph.nodes) next = std::max(next, node.index + 1);
  return next;
}

void insert(Graph& graph, ValueId& port, const QuantizeInput& input) {
  const ValueId quantized = port;
  Value real;
  real.name = graph.value(quantized).name;
  real.dtype = DType::kF32;
  real.shape = graph.value(quantized).shape;
  Node node;
  node.index = next_index(graph);
  node.name = cat("--quantize-input ", input.name);
  node.domain = kTensorFlow;
  node.op_type = "QuantizeV2";
  node.op = find_op(node.domain, node.op_type);
  node.attributes["mode"] = std::string(name_of(input.mode));
  node.attributes["T"] = std::string(tensorflow_name(*graph.value(quantized).dtype));
  port = graph.add_value(std::move(real));
  const ValueId min = graph.add_constant(Tensor::of<float>({}, {input.min}));
  const ValueId max = graph.add_constant(Tensor::of<float>({}, {input.max}));
  node.inputs = {port, min, max};
  node.outputs = {quantized};
  graph.nodes.insert(graph.nodes.begin(), std::move(node));
  graph.opsets.emplace(kTensorFlow, 1);
}

}  // namespace

void quantize_inputs(Graph& graph, const std::vector<QuantizeInput>& inputs, Sink& sink) {
  for (auto input = inputs.begin(); input != inputs.end(); ++input) {
    const bool again = std::any_of(inputs.begin(), input, [&](const QuantizeInput& earlier) {
      return earlier.name == input->name;
    });
    if (again) {
      sink.error(DiagKind::kName, place_of(*input), "is to be quantized twice");
      continue;
    }
    ValueId* const port = find_input(graph, *input, sink);
    if (port == nullptr || !check_type(graph.value(*port), *input, sink)) continue;
    insert(graph, *port, *input);
  }
}

}  // namespace etch
