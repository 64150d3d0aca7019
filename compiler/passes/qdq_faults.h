// Why a QDQ group cannot become an integer operator, in words that name what would have to be
// different. Each function answers one of the conditions of fuse_qdq.h; an empty text: it is met.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/passes/qdq.h"

namespace etch {

// `operand` must be 8-bit, per tensor and of type `type`, that of input `like`; `role` is "input 1"
// or "the output".
std::string activation_fault(std::string_view role, const std::optional<QuantizedOperand>& operand,
                             DType type, int like = 0);

// The same of 16 bits, which `type` has.
std::string word_fault(std::string_view role, const std::optional<QuantizedOperand>& operand,
                       DType type);

// Weights beside activations of type `x`: per tensor or along `axis`; int8 may be combined with
// uint8, not the reverse.
std::string weights_fault(std::string_view role, const std::optional<QuantizedOperand>& operand,
                          DType x, std::int64_t axis);

// `output` must be quantized by one set of parameters, and nothing else may use it.
std::string output_fault(const Graph& graph, const Wiring& wiring, ValueId output);

// A node that has no integer operator although it is in a quantized part of the graph.
std::string operator_fault(const Graph& graph, const Wiring& wiring, const Node& node);

// True when a DequantizeLinear comes before `node` or a QuantizeLinear after it.
bool is_beside_quantization(const Graph& graph, const Wiring& wiring, const Node& node);

}  // namespace etch
