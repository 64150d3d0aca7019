// Which steps prefetch weights.
#pragma once

#include "compiler/program/step.h"

namespace etch {

// If the weights of `program` exceed what a processor keeps near one core from one inference to
// the next, its convolutions whose blocks of channels are the outer loop prefetch the weights of
// the next block while they compute one, and the constants after them with the last one. Has to run
// before work is divided.
void prefetch_weights(Program& program);

}  // namespace etch
