// From a model's file to a program, with everything that goes wrong printed.
#pragma once

#include <filesystem>
#include <memory>

#include "compiler/host/model_options.h"
#include "compiler/program/step.h"

namespace etch::cli {

// Reads and compiles the model; prints its diagnostics. Sizes of inputs that the model leaves open
// and no option fixes are those of the test data in `data`, a folder, if any; so are inputs that
// the model needs to be constants, if they are the same in all of its test data. Null when there is
// an error.
std::unique_ptr<Program> compile_file(const ModelOptions& options, Reporter& reporter,
                                      const std::filesystem::path& data = {});

}  // namespace etch::cli
