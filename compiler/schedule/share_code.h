// Steps whose code is the same call one function: bands of rows of one convolution differ only in
// where they read and write.
#pragma once

#include "compiler/steps/step.h"

namespace etch {

// Sets Step::function of steps that an earlier step of the same node says word for word, constants
// included. To be run once partitions are decided.
void share_code(Program& program);

}  // namespace etch
