// Pairs of matrices of products whose second matrix is packed at run time: loops over the batch,
// with the packing where that matrix changes.
#pragma once

#include <cstddef>
#include <vector>

#include "templates/kernels/arguments.h"

namespace etch {

struct MatrixPairs {
  std::vector<RowAxis> axes;  // of the batch: steps of a, b, y in elements
  std::size_t b_axes = 0;     // the first so many change b, the others do not
};

// Calls pack(b) once per second matrix and multiply(a, y) once per pair, with their places.
template <class S, class Pack, class Multiply>
void over_matrices(S& s, const MatrixPairs& p, std::size_t axis, const RowPlace<S>& at, Pack pack,
                   Multiply multiply) {
  static constexpr const char* kNames[] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
  if (axis == p.b_axes) pack(at[1]);
  if (axis == p.axes.size()) return multiply(at[0], at[2]);
  const RowAxis& here = p.axes[axis];
  s.loop(kNames[axis], here.count, [&](const typename S::Index& i) {
    RowPlace<S> inner = at;
    for (std::size_t o = 0; o < kRowOperands; ++o) inner[o] = at[o] + i * here.step[o];
    over_matrices(s, p, axis + 1, inner, pack, multiply);
  });
}

}  // namespace etch
