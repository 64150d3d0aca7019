// The order of dimensions that a value has in memory, for steps that treat elements one by one and
// keep whatever order their input has.
#pragma once

#include "compiler/program/view.h"

namespace etch {

// The order in which `view` is dense, or a part of what is: row_major where that is one. A
// Transpose only makes a new view, so that it may be any order. Of repeated or reversed elements
// order_like().
Order memory_order(const View& view);

}  // namespace etch
