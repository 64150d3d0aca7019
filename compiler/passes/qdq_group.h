// One group DequantizeLinear -> operator -> QuantizeLinear on its way to an integer operator, and
// how the new node gets its inputs: for the rules of fuse_qdq.cc and fuse_words.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/passes/qdq.h"
#include "compiler/passes/qdq_bias.h"

namespace etch {

// Which groups become integer operators (docs/spec/qdq.md section 8.1).
enum class QdqGroups {
  kOfOnnxRuntime,  // those of one 8-bit type, as ONNX Runtime does
  kAll,            // also what it computes in float: int8 beside uint8, means over all positions
};

// One candidate: a float operator with its surroundings.
struct Group {
  Graph& graph;
  const Node& node;
  std::vector<std::optional<QuantizedOperand>> inputs;  // per node input; absent: not from a DQ
  std::optional<QuantizedOperand> output;               // absent: nothing quantizes the output
  ValueId result = kNoValue;                            // what `output` quantizes
  const Node* limit = nullptr;  // Relu or Clip between the operator and the Q; null: none
  Diagnostic warning;           // set when the message is not empty
  std::string fault;            // why it cannot be fused; at first, what is wrong with the output
  QdqGroups groups = QdqGroups::kOfOnnxRuntime;

  const QuantizedOperand& in(std::size_t i) const { return *inputs[i]; }
  bool has_bias() const { return node.inputs.size() > 2 && node.inputs[2] != kNoValue; }

  // Notes what is wrong; true when nothing is.
  bool fits(std::string why) {
    fault = std::move(why);
    return fault.empty();
  }
};

// The operand's zero point as an input of a node that may not omit it.
ValueId zero_point_of(Graph& graph, const QuantizedOperand& operand);

// Appends value, scale and zero point of an input; scale and zero point of the output. What is
// omitted becomes a constant.
void append(Graph& graph, Node& node, const QuantizedOperand& operand);
void append_output(Graph& graph, Node& node, const QuantizedOperand& operand);

// The new operator with the place, name and attributes of the old one.
Node renamed(const Group& group, std::string_view domain, std::string type);

// The int32 bias for a product of inputs 0 and 1, whose result has `channels` channels, or nothing
// when there is none that fits.
std::optional<ValueId> bias_for(Group& group, std::int64_t channels);

// The same for activations of 16 bits, where nothing is rounded to whole units.
std::optional<ExactBias> exact_bias_for(Group& group, std::int64_t channels);

// Relu or Clip (`limit`; null: nothing to do) before the group's Q as limits of the quantized
// value: quantization is monotone.
void append_limits(const Group& group, const Node* limit, Node& node);

// One entry per output channel where the file has one per channel of a group: ConvTranspose's
// weights are [C, M/group, k...], and DequantizeLinear along axis 1 serves every group alike.
QuantizedOperand repeated(Graph& graph, QuantizedOperand weights, std::int64_t groups);

}  // namespace etch
