// Rotary embeddings: pairs of elements of each head, turned by the angle of their position.
#pragma once

#include "compiler/passes/compositions/parts.h"

namespace etch {

// x [batch, length, heads, size]; of each head the first `turned` elements (even, at most size) are
// turned. Pairs are (i, i + turned / 2), or (2 i, 2 i + 1) if interleaved.
struct RotaryShape {
  std::int64_t batch = 1, length = 1, heads = 1, size = 2, turned = 2;
  bool interleaved = false;
};

// cosine and sine [batch or 1, length, 1, turned / 2], one per position and pair. The shape of x.
ValueId turned_heads(Parts& parts, ValueId x, const RotaryShape& shape, ValueId cosine,
                     ValueId sine);

}  // namespace etch
