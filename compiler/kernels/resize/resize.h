// The steps of linear and cubic Resize; see templates/kernels/resize/resize.h.
#pragma once

#include "compiler/ir/geometry/resize.h"
#include "compiler/lower/lowering.h"
#include "compiler/stage/staged_step.h"
#include "templates/kernels/resize/resize.h"

namespace etch {

class ResizeStep : public StagedStep<ResizeStep> {
 public:
  ResizePlan plan;
  template <class S>
  void kernel(S& s) const {
    resize_kernel(s, plan);
  }
};

class CubicResizeStep : public StagedStep<CubicResizeStep> {
 public:
  ResizePlan plan;
  template <class S>
  void kernel(S& s) const {
    cubic_resize_kernel(s, plan);
  }
};

// Output 0 of `node` between the neighbours of input 0.
void add_linear_resize(Lowering& lowering, const Node& node, const Resize& params);
void add_cubic_resize(Lowering& lowering, const Node& node, const Resize& params);

}  // namespace etch
