// Limits that passes put on the 8-bit result of an operator, for activations after it: attributes
// clamp_low and clamp_high of the domain org.etch, integers of the result's type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "compiler/ops/op.h"

namespace etch {

struct ResultLimits {
  int low = 0;
  int high = 0;

  std::int32_t of(std::int32_t y) const { return std::min(std::max(y, low), high); }
};

// Those of the node, else the range of `type`; reports E-ATTR and returns nothing when they are no
// range within it.
std::optional<ResultLimits> read_result_limits(ResolveContext& context, DType type);

}  // namespace etch
