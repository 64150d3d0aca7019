// For --optimize size: layers of equal shape have one function. What differs are their constants,
// which it takes as parameters; each step's own function passes its own.
#pragma once

#include <map>
#include <string>

#include "compiler/program/step.h"

namespace etch {

// By the name of a step, the name of the function that it hands over to. Steps that are not there
// have their code to themselves. Empty unless the program is optimized for size.
std::map<std::string, std::string> shared_bodies(const Program& program);

// The function that `step` and others hand over to, under the name `body`.
std::string body_definition(Step& step, const IsaTraits& isa, const std::string& body);
std::string body_declaration(const Step& step, const std::string& body);

// The function of a step that hands over.
std::string handing_over(const Step& step, const std::string& body);

}  // namespace etch
