// A step that does nothing, for tests of what is around steps.
#pragma once

#include "compiler/program/step.h"

namespace etch {

struct IdleStep : Step {
  void run(Recorder&) const override {}
  void run(NativeStage&) const override {}
  void run(Audit&) const override {}
};

}  // namespace etch
