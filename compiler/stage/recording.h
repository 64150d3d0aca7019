// A step's functions as generated code has them, with the formulas of its numbers where the program
// is for several sizes (program/sized_step.h).
#pragma once

#include <string>
#include <vector>

#include "compiler/program/step.h"
#include "compiler/stage/recorder.h"

namespace etch {

struct Recording {
  std::vector<RecordedFunction> functions;  // tile functions, callees first, then the step's own
  int statements = 0;
};

// What the Recorder prints; `parameters` come after those of the step.
Recording record(const Step& step, const IsaTraits& isa, const std::string& parameters = {});

// The step's functions under a name that all steps share.
std::string nameless_code(Step& step, const IsaTraits& isa);

// The step's text with marks in it (size_marks.h), under a name that all steps share and without
// what is said about it alone.
std::string marked_text(Step& step, const IsaTraits& isa);

// As the step's function declares them: parameters_of(), these, and the size if it needs that.
std::string declared_parameters(const Step& step, const std::string& more = {});

}  // namespace etch
