// Views of tensors for tests of what plans kernels.
#pragma once

#include "compiler/program/view.h"

namespace etch {

// Dense, without a halo.
inline View channels_last_view(const Shape& shape, DType dtype) {
  View view;
  view.dtype = dtype;
  view.shape = shape;
  lay_out(view, channels_last(static_cast<int>(shape.size())));
  view.halo_begin.assign(shape.size(), 0);
  view.halo_end.assign(shape.size(), 0);
  return view;
}

}  // namespace etch
