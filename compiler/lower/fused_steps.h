// What a user should know of `--float-products fused`: that a target has no instruction for it.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/program/step.h"

namespace etch {

// One warning if sums of float products are fused and the target has no instruction that does so.
void warn_of_emulated_steps(const Program& program, Sink& sink);

}  // namespace etch
