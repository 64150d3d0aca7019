// The shape of what Concat and QLinearConcat put together.
#pragma once

#include <cstddef>

#include "compiler/ops/op.h"

namespace etch {

// Adds the size of input i along `axis` to `out`, which began as the shape of input `first`; false
// and a report when the other axes differ.
bool append_shape(ResolveContext& context, int first, int i, std::size_t axis, Shape& out);

}  // namespace etch
