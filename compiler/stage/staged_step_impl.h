// The bodies of StagedStep, for the .cc files that instantiate steps; see staged_step.h.
#pragma once

#include "compiler/stage/audit.h"
#include "compiler/stage/native.h"
#include "compiler/stage/recorder.h"
#include "compiler/stage/staged_step.h"

namespace etch {

template <class Derived>
void StagedStep<Derived>::run(Recorder& stage) const {
  self().kernel(stage);
}
template <class Derived>
void StagedStep<Derived>::run(NativeStage& stage) const {
  self().kernel(stage);
}
template <class Derived>
void StagedStep<Derived>::run(Audit& stage) const {
  self().kernel(stage);
}

}  // namespace etch

#define ETCH_INSTANTIATE_STEP(Step) template class StagedStep<Step>
