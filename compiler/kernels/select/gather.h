// Steps of Gather and GatherElements with indices that are known at run time only.
#pragma once

#include "compiler/lower/lowering.h"

namespace etch {

// Output 0 is, for each of `outer` blocks of `size` slices of `inner` elements, the slices that
// input 1 names.
void add_gather(Lowering& lowering, const Node& node, std::int64_t outer, std::int64_t size,
                std::int64_t inner);

// Output 0, of shape `shape`, is the elements of input 0 whose positions along `axis` input 1
// names.
void add_gather_elements(Lowering& lowering, const Node& node, std::size_t axis,
                         const Shape& shape);

}  // namespace etch
