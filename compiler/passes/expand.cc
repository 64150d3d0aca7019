// See expand.h.
#include "compiler/passes/expand.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ops/matmul_integer_to_float/op.h"
#include "compiler/ops/op.h"
#include "compiler/ops/qgemm/op.h"
#include "compiler/passes/expand_recurrent.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

bool is_narrow(DType type) { return is_8bit(type) || type == DType::kU16 || type == DType::kS16; }

// Takes the nodes of a graph one by one and writes them back, some as several.
class Expander {
 public:
  Expander(Graph& graph, Sink& sink) : graph_(graph), sink_(sink) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      const std::size_t first = graph_.nodes.size();
      if (expand(node)) {
        // The last node's output takes the place of the expanded one's.
        graph_.nodes.back().outputs = node.outputs;
        log(node, first);
      } else {
        graph_.nodes.push_back(std::move(node));
      }
    }
  }

 private:
  // Writes the parts of `node`; false where it has none.
  bool expand(const Node& node) {
    const std::string_view folder = node.op->folder;
    if (folder == "recurrent") {  // output 0 may be omitted
      expand_recurrent(graph_, node, sink_);
      return true;
    }
    const DType type = *graph_.value(node.outputs[0]).dtype;
    if (folder == "matmul_integer_to_float") {
      integer_product(node);
    } else if (folder == "qgemm" && !has_own_kernel(node)) {
      gemm(node);
    } else if (node.op_type == "Mean") {
      mean(node);
    } else if (folder == "arithmetic" && is_narrow(type)) {
      narrow_arithmetic(node, type);
    } else if ((folder == "activation" || folder == "float_function") && type != DType::kF32) {
      integer_function(node, type);
    } else {
      return false;
    }
    return true;
  }

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
  ValueId to_float(const Node& origin, ValueId sum) { return cast(origin, sum, DType::kF32); }

  ValueId cast(const Node& origin, ValueId id, DType to) {
    return add(origin, "Cast", {id}, 1, {{"to", std::int64_t{onnx_number_of(to)}}})[0];
  }

  ValueId scalar(float value) { return graph_.add_constant(Tensor::of<float>({}, {value})); }

  ValueId integer(DType type, std::int64_t value) {
    if (type == DType::kS64) return graph_.add_constant(Tensor::of<std::int64_t>({}, {value}));
    return graph_.add_constant(Tensor::of<std::int32_t>({}, {static_cast<std::int32_t>(value)}));
  }

  void mean(const Node& node) {
    const float share = 1.0F / static_cast<float>(node.inputs.size());
    const ValueId sum = add(node, "Sum", node.inputs)[0];
    add(node, "Mul", {sum, scalar(share)});
  }

  // Through int32, which holds all results but those that wrap, and these keep their low bits.
  void narrow_arithmetic(const Node& node, DType type) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(cast(node, id, DType::kS32));
    const ValueId wide = add(node, node.op_type.c_str(), std::move(inputs), 1, node.attributes)[0];
    cast(node, wide, type);
  }

  // Relu, Abs, Neg and Sign of integers by differences and limits.
  void integer_function(const Node& node, DType type) {
    const bool narrow = is_narrow(type);
    const ValueId x = narrow ? cast(node, node.inputs[0], DType::kS32) : node.inputs[0];
    const DType wide = narrow ? DType::kS32 : type;
    ValueId y = x;
    if (node.op_type == "Relu") y = add(node, "Max", {x, integer(wide, 0)})[0];
    if (node.op_type == "Neg" || node.op_type == "Abs")
      y = add(node, "Sub", {integer(wide, 0), x})[0];
    if (node.op_type == "Abs") y = add(node, "Max", {x, y})[0];
    if (node.op_type == "Sign") {
      y = add(node, "Max", {x, integer(wide, -1)})[0];
      y = add(node, "Min", {y, integer(wide, 1)})[0];
    }
    if (narrow) cast(node, y, type);
  }

  void gemm(const Node& node) {
    const QGemmParams params = params_of<QGemmParams>(node);
    const ValueId a = transposed(node, node.inputs[0], params.geometry.transposed_a);
    const ValueId b = transposed(node, node.inputs[3], params.geometry.transposed_b);
    ValueId sum = add(node, "MatMulInteger", {a, b, node.inputs[2], node.inputs[5]})[0];
    const ValueId c = input_of(node, 6);
    if (c != kNoValue) sum = add(node, "Add", {sum, c})[0];
    const ValueId alpha = scalar(params.alpha);
    const ValueId a_scale = add(node, "Mul", {alpha, node.inputs[1]})[0];
    ValueId scale = add(node, "Mul", {a_scale, node.inputs[4]})[0];
    const bool quantized = params.output == QGemmOutput::kQuantized;
    if (quantized) scale = add(node, "Div", {scale, node.inputs[7]})[0];
    const ValueId y = add(node, "Mul", {to_float(node, sum), scale})[0];
    if (quantized) {
      add(node, "QuantizeLinear", {y, scalar(1), node.inputs[8]});
    }
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
  }

  Graph& graph_;
  Sink& sink_;
};

}  // namespace

void expand(Graph& graph, Sink& sink) { Expander(graph, sink).run(); }

}  // namespace etch
