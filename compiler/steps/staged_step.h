// The bridge from a staged kernel to a Step: one template serves all three stages.
#pragma once

#include "compiler/stage/audit.h"
#include "compiler/stage/native.h"
#include "compiler/stage/recorder.h"
#include "compiler/steps/step.h"

namespace etch {

// Implements the three run() functions through one template: Derived::kernel(stage).
template <class Derived>
class StagedStep : public Step {
 public:
  void run(Recorder& stage) const override { self().kernel(stage); }
  void run(NativeStage& stage) const override { self().kernel(stage); }
  void run(Audit& stage) const override { self().kernel(stage); }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace etch
