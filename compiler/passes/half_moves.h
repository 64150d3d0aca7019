// float16 and bfloat16 that are only moved: where other_floats would convert them to float32, move
// that, and convert back, the 16 bits move as they are. Part of resolving, so that every engine
// sees the same: all bits stay, also those of a NaN, which the conversions would make another one.
//
// Concerned is a Cast of float32 to one of these types whose input is made by moves alone (what
// declares kMoved; Concat, Pad, Where and ScatterRows that replaces) of what was cast from the same
// type, and of constants whose elements it has. The moves get inputs and outputs of 16 bits; who
// else reads their results reads them through a Cast. Requires a resolved graph; what nobody reads
// any more stays.
#pragma once

#include "compiler/ir/graph.h"

namespace etch {

void keep_half_moves(Graph& graph);

}  // namespace etch
