// See widen_four_bits.h.
#include "compiler/passes/widen_four_bits.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/ir/four_bits.h"
#include "compiler/ops/op.h"
#include "compiler/passes/resolve.h"

namespace etch {

namespace {

bool is_of_four_bits(const Value& value) {
  return value.dtype == DType::kS4 || value.dtype == DType::kU4;
}

// Tensors keep one element per byte, so only the type changes.
Tensor as_int8(const Tensor& tensor) {
  Tensor out(DType::kS8, tensor.shape());
  std::ranges::copy(tensor.bytes(), out.mutable_bytes().begin());
  return out;
}

// For every byte the value of its low 4 bits as `type` has it.
Tensor low_bits(DType type) {
  Tensor table(DType::kS8, {256});
  for (int i = 0; i < 256; ++i) {
    const int bits = i & 15;
    const int value = type == DType::kS4 && bits > 7 ? bits - 16 : bits;
    table.as<std::int8_t>()[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(value);
  }
  return table;
}

class Widening {
 public:
  Widening(Graph& graph, Sink& sink) : graph_(graph), sink_(sink) {}

  void run() {
    if (std::ranges::none_of(graph_.values, is_of_four_bits)) return;
    refuse_ports("input", graph_.inputs);
    refuse_ports("output", graph_.outputs);
    if (sink_.has_errors()) return;
    for (const Value& value : graph_.values)
      types_.push_back(is_of_four_bits(value) ? value.dtype : std::nullopt);
    for (Value& value : graph_.values) {
      if (!is_of_four_bits(value) || value.constant == nullptr) continue;
      value.constant = std::make_shared<const Tensor>(as_int8(*value.constant));
      value.dtype = DType::kS8;
    }
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) widen(std::move(node));
  }

 private:
  void refuse_ports(const char* role, const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      const Value& value = graph_.value(id);
      if (!is_of_four_bits(value)) continue;
      sink_.error(DiagKind::kUnsupported, cat(role, " '", printable(value.name), "'"),
                  cat("is ", name_of(*value.dtype),
                      ", which only values within the network can be; convert it there"));
    }
  }

  // The 4-bit type that a value had; nothing if it had another.
  std::optional<DType> type_before(ValueId id) const {
    const auto at = static_cast<std::size_t>(id);
    return id == kNoValue || at >= types_.size() ? std::nullopt : types_[at];
  }

  bool concerned(const std::vector<ValueId>& ids) const {
    return std::ranges::any_of(ids, [&](ValueId id) { return type_before(id).has_value(); });
  }

  void widen(Node node) {
    if (!concerned(node.inputs) && !concerned(node.outputs)) {
      graph_.nodes.push_back(std::move(node));
      return;
    }
    const std::optional<DType> type = type_before(node.outputs[0]);
    if (type && node.op_type == "QuantizeLinear") return quantize(std::move(node), *type);
    if (type && node.op_type == "Cast") return cast(node, *type);
    const bool of_weights = node.op_type == "DequantizeLinear" && type_before(node.inputs[0]) &&
                            graph_.value(node.inputs[0]).constant != nullptr;
    if (of_weights) mark_four_bits(node);
    append(std::move(node));
  }

  void append(Node node) {
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      graph_.value(id).dtype.reset();
      graph_.value(id).shape.reset();
    }
    ETCH_CHECK(resolve_node(graph_, node, sink_));
    graph_.nodes.push_back(std::move(node));
  }

  // A node that comes from `origin` and computes `output`.
  void add(const Node& origin, std::string_view domain, const char* type,
           std::vector<ValueId> inputs, ValueId output,
           std::map<std::string, Attribute> attributes = {}) {
    Node node;
    node.index = origin.index;
    node.name = origin.name;
    node.domain = std::string(domain);
    node.op_type = type;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attributes = std::move(attributes);
    append(std::move(node));
  }

  ValueId bound(std::int64_t value) {
    return graph_.add_constant(Tensor::of<std::int8_t>({}, {static_cast<std::int8_t>(value)}));
  }

  void quantize(Node node, DType type) {
    constexpr std::int64_t kInt8 = 3;  // ONNX's number of it
    if (node.attributes.contains("output_dtype")) node.attributes["output_dtype"] = kInt8;
    const Node origin = node;
    node.outputs = {graph_.add_value({})};
    const ValueId wide = node.outputs[0];
    append(std::move(node));
    add(origin, kOnnx, "Clip", {wide, bound(min_of(type)), bound(max_of(type))}, origin.outputs[0]);
  }

  void cast(const Node& node, DType type) {
    constexpr std::int64_t kUint8 = 2;
    ValueId from = node.inputs[0];
    if (!is_8bit(*graph_.value(from).dtype)) {
      const ValueId bytes = graph_.add_value({});
      add(node, kOnnx, "Cast", {from}, bytes, {{"to", kUint8}});
      from = bytes;
    }
    graph_.opsets.emplace(kEtch, 1);
    const ValueId table = graph_.add_constant(low_bits(type));
    add(node, kEtch, "Table", {from, table}, node.outputs[0], {{"of", std::string("Cast")}});
  }

  Graph& graph_;
  Sink& sink_;
  std::vector<std::optional<DType>> types_;  // by value, as the file has it
};

}  // namespace

void widen_four_bits(Graph& graph, Sink& sink) { Widening(graph, sink).run(); }

}  // namespace etch
