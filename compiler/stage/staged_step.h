// The bridge from a staged kernel to a Step: one template serves all three stages. A step class
// derives from StagedStep<itself>, has a member template kernel(stage), and one .cc that includes
// staged_step_impl.h says ETCH_INSTANTIATE_STEP(TheStep): so the kernels are compiled once.
#pragma once

#include "compiler/program/step.h"

namespace etch {

// Implements the three run() functions through one template: Derived::kernel(stage).
template <class Derived>
class StagedStep : public Step {
 public:
  void run(Recorder& stage) const override;
  void run(NativeStage& stage) const override;
  void run(Audit& stage) const override;

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace etch
