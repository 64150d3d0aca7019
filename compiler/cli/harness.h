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

// The beginning of a call of NAME::run() with threads, from pointers as harness::Call has them; the
// hook and ");" are missing.
std::string threaded_call(const Program& program, const std::string& name);

}  // namespace etch::cli
