// See expand_recurrent.h.
#include "compiler/passes/expand_recurrent.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/onnx_types.h"
#include "compiler/ops/op.h"
#include "compiler/ops/recurrent/op.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

class RecurrentParts {
 public:
  RecurrentParts(Graph& graph, const Node& node, Sink& sink)
      : graph_(graph),
        node_(node),
        sink_(sink),
        r_(params_of<RecurrentParams>(node).recurrence),
        columns_(r_.directions() * r_.gate_elements()) {}

  void run() {
    const bool quantized = r_.weights == Recurrence::Weights::kQuantized;
    std::vector<ValueId> inputs{quantized ? integer_products() : float_products()};
    for (const int i : {2, 3, 4, 5, 6, 7}) inputs.push_back(input(i));
    if (quantized) inputs.insert(inputs.end(), {input(10), input(11)});
    while (inputs.back() == kNoValue) inputs.pop_back();
    Node loop = origin("RecurrentLoop");
    loop.domain = kEtch;
    loop.op = find_op(kEtch, "RecurrentLoop");
    loop.params = node_.params;
    loop.float_steps = node_.float_steps;
    loop.inputs = std::move(inputs);
    graph_.nodes.push_back(std::move(loop));
  }

 private:
  ValueId input(int i) const {
    const auto at = static_cast<std::size_t>(i);
    return at < node_.inputs.size() ? node_.inputs[at] : kNoValue;
  }

  Node origin(const char* type) const {
    Node node;
    node.index = node_.index;
    node.name = node_.name;
    node.op_type = type;
    return node;
  }

  std::vector<ValueId> add(const char* type, std::vector<ValueId> inputs, std::size_t outputs = 1,
                           std::map<std::string, Attribute> attributes = {}) {
    Node node = origin(type);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value({}));
    ETCH_CHECK(resolve_node(graph_, node, sink_));
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().outputs;
  }

  ValueId transposed(ValueId x, std::vector<std::int64_t> order) {
    return add("Transpose", {x}, 1, {{"perm", std::move(order)}})[0];
  }
  ValueId reshaped(ValueId x, const std::vector<std::int64_t>& shape) {
    const auto rank = static_cast<std::int64_t>(shape.size());
    return add("Reshape", {x, graph_.add_constant(Tensor::of<std::int64_t>({rank}, shape))})[0];
  }

  ValueId float_products() {
    const ValueId rows = reshaped(input(1), {columns_, r_.input});
    return add("MatMul", {input(0), transposed(rows, {1, 0})})[0];
  }

  // A scale or zero point of W for each column, or one for all.
  ValueId of_columns(ValueId id) {
    if (id == kNoValue) return kNoValue;
    const Tensor& from = *graph_.value(id).constant;
    if (from.size() == 1) return graph_.add_constant(from);
    Tensor out(from.dtype(), {columns_});
    const std::int64_t run = columns_ / from.size();  // columns that share an entry
    const auto bytes = static_cast<std::size_t>(bytes_of(from.dtype()));
    for (std::size_t n = 0; n < static_cast<std::size_t>(columns_); ++n) {
      const std::size_t entry = n / static_cast<std::size_t>(run);
      std::copy_n(from.bytes().begin() + static_cast<std::ptrdiff_t>(entry * bytes), bytes,
                  out.mutable_bytes().begin() + static_cast<std::ptrdiff_t>(n * bytes));
    }
    return graph_.add_constant(std::move(out));
  }

  ValueId integer_products() {
    const std::vector<ValueId> x = add("DynamicQuantizeLinear", {input(0)}, 3);
    const ValueId w = reshaped(transposed(input(1), {1, 0, 2}), {r_.input, columns_});
    std::vector<ValueId> operands{x[0], w, x[2], of_columns(input(9))};
    if (operands.back() == kNoValue) operands.pop_back();
    const ValueId sum = add("MatMulInteger", std::move(operands))[0];
    const ValueId real =
        add("Cast", {sum}, 1, {{"to", std::int64_t{onnx_number_of(DType::kF32)}}})[0];
    const ValueId scale = add("Mul", {x[1], of_columns(input(8))})[0];
    return add("Mul", {real, scale})[0];
  }

  Graph& graph_;
  const Node& node_;
  Sink& sink_;
  const Recurrence& r_;
  std::int64_t columns_;  // of the product: all gates of all directions
};

}  // namespace

void expand_recurrent(Graph& graph, const Node& node, Sink& sink) {
  RecurrentParts(graph, node, sink).run();
}

}  // namespace etch
