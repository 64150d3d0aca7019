// The steps that lowering adds by itself: copies between memory orders, and the filling of halos.
#pragma once

#include "compiler/stage/staged_step.h"
#include "templates/kernels/rows/elementwise.h"
#include "templates/kernels/rows/rows.h"

namespace etch {

class CopyStep : public StagedStep<CopyStep> {
 public:
  CopyPlan plan;
  CopyStep() { divisible = true; }
  template <class S>
  void kernel(S& s) const {
    copy_kernel(s, plan);
  }
};

class FillStep : public StagedStep<FillStep> {
 public:
  FillPlan plan;
  FillStep() { divisible = true; }
  template <class S>
  void kernel(S& s) const {
    fill_kernel(s, plan);
  }
};

}  // namespace etch
