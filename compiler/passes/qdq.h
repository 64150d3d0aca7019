// What the passes over QDQ graphs need to know about QuantizeLinear and DequantizeLinear nodes: the
// integer tensor on the one side, its constant quantization, and the wiring around a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/quantization.h"
#include "compiler/ops/quantization_axis.h"

namespace etch {

// The integer tensor before a DequantizeLinear or after a QuantizeLinear.
struct QuantizedOperand {
  ValueId value = kNoValue;
  ValueId scale = kNoValue;
  ValueId zero_point = kNoValue;  // omitted: 0
  DType dtype = DType::kU8;
  Quantization quantization;
  QuantizationAxis axis;
  bool four_bits = false;  // constants that the file stores so

  bool per_tensor() const { return axis.granularity == QuantizationGranularity::kTensor; }
  bool is_8bit_per_tensor() const { return is_8bit(dtype) && per_tensor(); }
  bool is_word() const { return dtype == DType::kU16 || dtype == DType::kS16; }
  bool is_narrow() const { return is_8bit(dtype) || is_word(); }
};

bool is_quantize(const Node& node);
bool is_dequantize(const Node& node);

// The operand of such a node; nothing when it is another node, or when scale or zero point are
// known only at run time.
std::optional<QuantizedOperand> quantized_by(const Graph& graph, const Node& node);
std::optional<QuantizedOperand> dequantized_by(const Graph& graph, const Node& node);

// True when both are per tensor with one element type, scale and zero point.
bool same_quantization(const QuantizedOperand& a, const QuantizedOperand& b);

// True when Relu or Clip changes no result of the QuantizeLinear after it (`by`), and is one that
// ONNX Runtime leaves out there too, as it then fuses what is before it.
bool is_implied_before(const Node& node, const QuantizedOperand& by);
// True when Relu or Clip changes no value of the DequantizeLinear before it.
bool is_implied_after(const Node& node, const QuantizedOperand& by);

// Producers and consumers of values, kept up while a pass rewires nodes. Node indices stay valid:
// nodes are replaced or erased in place, and erased ones leave the graph in finish().
class Wiring {
 public:
  explicit Wiring(Graph& graph);

  const Node* producer(ValueId id) const;  // null: graph input or constant
  const std::vector<int>& consumers(ValueId id) const;
  bool is_graph_output(ValueId id) const;
  // What makes `id`, if one node alone reads it and the network does not give it; else null.
  const Node* only_producer(ValueId id) const;
  bool is_erased(int node) const { return erased_[static_cast<std::size_t>(node)]; }

  // Makes input `slot` of a node read `to`.
  void set_input(int node, std::size_t slot, ValueId to);
  // Every use of `from` by a node reads `to` instead. Graph outputs are not touched.
  void redirect(ValueId from, ValueId to);
  void replace(int node, Node by);
  void erase(int node);

  // Removes the erased nodes.
  void finish();

 private:
  void connect(int node);
  void disconnect(int node);
  std::size_t grown(ValueId id) const;

  Graph& graph_;
  mutable std::vector<int> producers_;
  mutable std::vector<std::vector<int>> consumers_;
  std::vector<bool> erased_;
};

}  // namespace etch
