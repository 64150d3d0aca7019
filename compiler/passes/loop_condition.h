// The condition of a loop on its own: where it depends on nothing but constants and what the loop
// counts itself, it can be computed before there is any input. Part of resolving.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/graph.h"

namespace etch {

// Why such a loop is refused.
inline constexpr std::string_view kOnlyBodyHasCondition =
    "has no condition, but its body computes one: by ONNX's rules that has no effect, in ONNX "
    "Runtime it ends the loop";

// The trips of the loop that node `begin` opens and `end`, after the last node, closes: as many as
// its body's condition allows, at most `most`. Nothing where the condition depends on run time or
// is too much work by the graph's limits.
std::optional<std::int64_t> computed_trips(const Graph& graph, std::size_t begin, const Node& end,
                                           std::int64_t most);

// The same of a condition that depends on run time, but can only hold where another one holds that
// does not: as many trips as that allows; nothing where the limit of trips does not reach. "x > 1
// and i < 10" of PyTorch's TorchScript is an If that gives i < 10 where x > 1 and false elsewhere.
std::optional<std::int64_t> implied_trips(const Graph& graph, std::size_t begin, const Node& end,
                                          std::int64_t most);

}  // namespace etch
