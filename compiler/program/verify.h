// What holds for a Program between any two stages of the back half. Each stage may rely on it, and
// a stage that breaks it is found where it does, not by the code that comes out wrong.
#pragma once

#include <string>
#include <vector>

#include "compiler/program/step.h"

namespace etch {

// All that does not hold, each as "n03_conv: operand 'y' is outside of buffer 2":
// - steps have names, all different; one that shares code does so with an earlier step that has it;
// - operands are in buffers of the program, and in no step before or after the buffer's live range;
// - buffers of inputs and outputs name a port and are as large as it, planned ones are within the
//   arena;
// - the arrays of a step differ in their suffix; an owner is an earlier step that has the array;
// - overlaps are between an operand that is written and one that is read;
// - functions in assembly of the same name are the same.
std::vector<std::string> faults_of(const Program& program);

// Aborts with the faults if there are any; `stage` is what came before.
void verify(const Program& program, const char* stage);

}  // namespace etch
