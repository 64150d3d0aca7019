// Splits convolutions that follow one another into bands of rows, so that the tensor between them
// is never whole in memory:
//
//   x -> expand -> (large) -> depthwise -> y   becomes, for each band of rows of y,
//   rows of x -> expand -> (small) -> depthwise -> rows of y
//
// Rows that two bands need are computed twice. It pays where the tensor between them would not
// stay in a cache (docs/decisions/0012), and where memory is short.
#pragma once

#include <cstdint>

#include "compiler/ir/graph.h"

namespace etch {

// Tensors of more bytes than this, between convolutions, are split on default.
inline constexpr std::int64_t kSplitRowsAbove = std::int64_t{4} << 20;

// Requires resolved nodes; to be run when operators are those that will be lowered. Splits runs of
// two and more QLinearConv of batch 1 (channels first, two spatial axes, constant parameters),
// each the only reader of the one before it, with more than `above` bytes between them and at most
// so many between the same two of a band. Leaves whole what would be computed twice for more than a
// tenth, or, with `above` below kSplitRowsAbove, for more than all of it. Nothing if `above` is
// negative.
void split_rows(Graph& graph, std::int64_t above);

}  // namespace etch
