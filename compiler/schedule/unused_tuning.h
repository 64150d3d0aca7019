// Tuning files outlive edits of the model; their lines that no longer mean anything are named.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/kernels/conv/tuning.h"
#include "compiler/program/step.h"

namespace etch {

// A note for every entry for the program's instruction sets that fits none of its layers, and one
// for all entries for other instruction sets.
void note_unused(const Tuning& tuning, const Program& program, Sink& sink);

}  // namespace etch
