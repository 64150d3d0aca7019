// Makes a generated folder into a program: writes the network's files, harness.h (the logic, from
// templates/files) and a main.cc with the facts of the network, and builds them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/steps/step.h"

namespace etch::cli {

enum class Timing { kNone, kSteps };

// The files main.cc and harness.h for the network that emit() calls `name`. With Timing::kSteps
// the files must have been emitted with EmitOptions::profile.
std::vector<OutputFile> harness_files(const Program& program, const std::string& name,
                                      Timing timing);

}  // namespace etch::cli
