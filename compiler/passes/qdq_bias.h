// The bias of a quantized product (convolution or matrix product) in a QDQ graph as int32; the
// rules are in fuse_qdq.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/passes/qdq.h"

namespace etch {

enum class FloatBias { kQuantize, kRefuse };

struct BiasRequest {
  ValueId value = kNoValue;                   // the float bias as the operator sees it
  const QuantizedOperand* operand = nullptr;  // what is dequantized to it; null: nothing
  FloatBias float_bias =
      FloatBias::kQuantize;  // what to do with a constant that is not dequantized
  std::int64_t channels = 1;
};

struct BiasResult {
  std::optional<ValueId> bias;  // int32, one value per channel; nothing: the group stays float
  std::string warning;          // empty: none
  std::string fault;            // why there is no bias
};

// A bias as it is: units[c] + rests[c] / 2^31 of the exact x_scale * w_scale[c], with rests of at
// most 2^30 in size.
struct ExactBias {
  std::optional<ValueId> units;  // int32; nothing: the group stays float
  ValueId rests = kNoValue;      // int32; not there: only zeros
  std::string fault;
};
// The dequantized integers or the float constant themselves; nothing is rounded to whole units.
ExactBias exact_bias(Graph& graph, const BiasRequest& request, const Quantization& x,
                     const Quantization& w);

// fl(x_scale * w_scale) of channel c: what an int32 bias counts in.
float unit_of_bias(const Quantization& x, const Quantization& w, std::int64_t c);
// rne(fl(value / unit)), saturated; the unit is finite and > 0.
std::int32_t in_units(float value, float unit);

// `x` is per tensor, `w` per tensor or per channel.
BiasResult quantized_bias(Graph& graph, const BiasRequest& request, const Quantization& x,
                          const Quantization& w);

}  // namespace etch
