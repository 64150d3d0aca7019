// The largest or smallest elements along one axis with their positions.
#pragma once

#include <cstdint>

#include "compiler/lower/lowering.h"

namespace etch {

// Of input 0 of `node`, `k` elements along `axis` to output 0 and their positions to output 1, best
// first. Output 1 may be omitted.
void add_top_k(Lowering& lowering, const Node& node, bool largest, std::int64_t axis,
               std::int64_t k);

}  // namespace etch
