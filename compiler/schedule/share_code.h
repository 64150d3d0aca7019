// Steps whose code is the same call one function: bands of rows of one convolution differ only in
// where they read and write. Where the code differs, as at the first and the last band, they have
// at least their constants in common; so have steps of other nodes that compute with equal weights.
#pragma once

#include "compiler/program/step.h"

namespace etch {

// Sets Step::function of steps that an earlier step of the same node says word for word, constants
// included, and ConstantArray::owner of arrays that are equal to one of an earlier step. To be run
// once partitions are decided.
void share_code(Program& program);

}  // namespace etch
