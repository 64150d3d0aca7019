// Joining of tensors along an axis: Concat and QLinearConcat.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/lower/lowering.h"

namespace etch {

struct JoinedInput {
  PlacedInput place;
  // What becomes of each 8-bit value; absent: it stays as it is.
  std::optional<std::function<std::int32_t(std::int32_t)>> requantize;
};

// An input whose first element is at `start` along `axis` of the output.
PlacedInput placed_along(int input, std::size_t rank, std::int64_t axis, std::int64_t start);

// Output 0 of `node` from all of `inputs`, joined along `axis`. Those that are in their place
// already cost nothing.
void add_join(Lowering& lowering, const Node& node, std::int64_t axis,
              const std::vector<JoinedInput>& inputs);

}  // namespace etch
