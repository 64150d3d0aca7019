// Layers of equal shape have one function. What differs are their constants, which it takes as
// parameters; each step's own function passes its own. That is one call more for each layer. With
// AVX-512 eleven networks took 0.97 to 1.01 times the time, and DS-CNN 0.55 times the code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/program/step.h"
#include "compiler/stage/recorder.h"

namespace etch {

// By the name of a step, the name of the function that it hands over to. Steps that are not there
// have their code to themselves.
std::map<std::string, std::string> shared_bodies(const Program& program);

// `name` for one of several functions of this name, which only their texts tell apart.
std::string name_by_content(const std::string& name, const std::string& text);

// The function that `step` and others hand over to, under the name `body`, after its tile
// functions.
std::vector<RecordedFunction> body_definition(Step& step, const IsaTraits& isa,
                                              const std::string& body);
std::string body_declaration(const Step& step, const std::string& body);

// The function of a step that hands over.
std::string handing_over(const Step& step, const std::string& body);

}  // namespace etch
