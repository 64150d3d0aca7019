// See expand.h.
#include "compiler/passes/expand.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ops/matmul_integer_to_float/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qgemm/op.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

// Takes the nodes of a graph one by one and writes them back, some as several.
class Expander {
 public:
  Expander(Graph& graph, Sink& sink) : graph_(graph), sink_(sink) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      const std::size_t first = graph_.nodes.size();
      if (node.op->folder == "matmul_integer_to_float") {
        integer_product(node);
      } else if (node.op->folder == "qgemm" && !has_own_kernel(node)) {
        gemm(node);
      } else {
        graph_.nodes.push_back(std::move(node));
        continue;
      }
      log(node, first);
    }
  }

 private:
  // Notes what `node` became: the nodes from `first` on.
  void log(const Node& node, std::size_t first) {
    std::string parts;
    for (std::size_t i = first; i < graph_.nodes.size(); ++i)
      parts += cat(i == first ? "" : ", ", graph_.nodes[i].op_type);
    graph_.fusions.fused(node, cat("is computed as ", parts));
  }

  bool is_constant(ValueId id) const { return graph_.value(id).constant != nullptr; }

  // What ops/qgemm lowers by itself.
  bool has_own_kernel(const Node& node) const {
    const auto& params = params_of<QGemmParams>(node);
    const ValueId c = input_of(node, 6);
    return params.output == QGemmOutput::kQuantized && params.a && params.b && params.y &&
           is_constant(node.inputs[3]) && !is_constant(node.inputs[0]) &&
           (c == kNoValue || is_constant(c)) &&
           (params.geometry.c_row_stride == 0 || params.geometry.rows == 1);
  }

  // A node of ai.onnx that comes from `origin`; its outputs.
  std::vector<ValueId> add(const Node& origin, const char* type, std::vector<ValueId> inputs,
                           std::size_t outputs = 1,
                           std::map<std::string, Attribute> attributes = {}) {
    Node node;
    node.index = origin.index;
    node.name = origin.name;
    node.op_type = type;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value({}));
    ETCH_CHECK(resolve_node(graph_, node, sink_));
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().outputs;
  }

  static ValueId input_of(const Node& node, int i) {
    const bool given = i >= 0 && static_cast<std::size_t>(i) < node.inputs.size();
    return given ? node.inputs[static_cast<std::size_t>(i)] : kNoValue;
  }

  ValueId transposed(const Node& origin, ValueId id, bool is_transposed) {
    return is_transposed ? add(origin, "Transpose", {id})[0] : id;
  }

  // An int32 sum as float32.
  ValueId to_float(const Node& origin, ValueId sum) {
    constexpr std::int64_t kFloat = 1;  // ONNX's number of float32
    return add(origin, "Cast", {sum}, 1, {{"to", kFloat}})[0];
  }

  void gemm(const Node& node) {
    const QGemmParams params = params_of<QGemmParams>(node);
    const ValueId a = transposed(node, node.inputs[0], params.geometry.transposed_a);
    const ValueId b = transposed(node, node.inputs[3], params.geometry.transposed_b);
    ValueId sum = add(node, "MatMulInteger", {a, b, node.inputs[2], node.inputs[5]})[0];
    const ValueId c = input_of(node, 6);
    if (c != kNoValue) sum = add(node, "Add", {sum, c})[0];
    const ValueId alpha = graph_.add_constant(Tensor::of<float>({}, {params.alpha}));
    const ValueId a_scale = add(node, "Mul", {alpha, node.inputs[1]})[0];
    ValueId scale = add(node, "Mul", {a_scale, node.inputs[4]})[0];
    const bool quantized = params.output == QGemmOutput::kQuantized;
    if (quantized) scale = add(node, "Div", {scale, node.inputs[7]})[0];
    const ValueId y = add(node, "Mul", {to_float(node, sum), scale})[0];
    if (quantized) {
      const ValueId one = graph_.add_constant(Tensor::of<float>({}, {1}));
      add(node, "QuantizeLinear", {y, one, node.inputs[8]});
    }
    graph_.nodes.back().outputs = node.outputs;
  }

  void integer_product(const Node& node) {
    const IntegerToFloatInputs at = params_of<MatMulIntegerToFloat>(node).inputs;
    ValueId a = node.inputs[0];
    ValueId a_scale = input_of(node, at.a_scale);
    ValueId a_zero = input_of(node, at.a_zero_point);
    if (params_of<MatMulIntegerToFloat>(node).quantizes_a) {
      const std::vector<ValueId> quantized = add(node, "DynamicQuantizeLinear", {a}, 3);
      a = quantized[0];
      a_scale = quantized[1];
      a_zero = quantized[2];
    }
    std::vector<ValueId> operands{a, node.inputs[1], a_zero, input_of(node, at.b_zero_point)};
    while (operands.back() == kNoValue) operands.pop_back();
    const ValueId sum = add(node, "MatMulInteger", std::move(operands))[0];
    const ValueId real = to_float(node, sum);
    const ValueId scale = add(node, "Mul", {a_scale, input_of(node, at.b_scale)})[0];
    ValueId y = add(node, "Mul", {real, scale})[0];
    const ValueId bias = input_of(node, at.bias);
    if (bias != kNoValue) y = add(node, "Add", {y, bias})[0];
    // The last node's output takes the place of the expanded one's.
    graph_.nodes.back().outputs = node.outputs;
  }

  Graph& graph_;
  Sink& sink_;
};

}  // namespace

void expand(Graph& graph, Sink& sink) { Expander(graph, sink).run(); }

}  // namespace etch
