// Loops over axes with a stride per operand around an innermost run: how kernels that treat
// elements one by one walk over memory. compiler/lower/nest.h makes nests from views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "templates/stage.h"

namespace etch {

inline constexpr int kNestOperands = 3;

struct NestAxis {
  int count = 1;
  std::int64_t step[kNestOperands] = {};  // elements of each operand
};

struct Nest {
  std::vector<NestAxis> axes;        // outermost first, without the run
  int run = 1;                       // elements of the innermost axis; operand steps are 1 ...
  std::int64_t out_step = 1;         // ... except the output, which may be spread,
  bool repeats[kNestOperands] = {};  // and an input of which the whole run takes one element
  std::int64_t offset[kNestOperands] = {};  // elements from each operand's pointer
  // More than 1 (2 to 4): the run has so many planes of operand 0, plane_step elements apart, whose
  // elements are written side by side; out_step is their number.
  int planes = 1;
  std::int64_t plane_step = 0;
};

namespace nest_detail {

template <class S>
struct At {
  typename S::Index i[kNestOperands];
};

template <class S, class Body>
void walk(S& s, const Nest& nest, std::size_t axis, const At<S>& at, Body body) {
  static constexpr const char* kNames[] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
  if (axis == nest.axes.size()) {
    body(at);
    return;
  }
  s.loop(kNames[axis], nest.axes[axis].count, [&](const typename S::Index& i) {
    At<S> inner = at;
    for (int o = 0; o < kNestOperands; ++o) inner.i[o] = at.i[o] + i * nest.axes[axis].step[o];
    walk(s, nest, axis + 1, inner, body);
  });
}

}  // namespace nest_detail
}  // namespace etch
