// --unroll: sets how much of K the steps of a lowered program spell out.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/kernels/conv/unrolling.h"
#include "compiler/program/step.h"

namespace etch {

// An error for every name that no step has or whose step has no sum to unroll; a note where less
// than was asked for fits.
void unroll_steps(Program& program, const UnrollRequest& request, Sink& sink);

}  // namespace etch
