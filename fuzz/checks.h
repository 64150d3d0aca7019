// What holds for every model, whatever is in it.
#pragma once

#include <memory>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/emit.h"

namespace etch::fuzz {

// A model is refused with at least one error or accepted without; each diagnostic is one line of
// printable ASCII of a sane length.
void check_diagnostics(const Sink& sink, bool refused);

// No generated file holds text of the model; each is printable ASCII with balanced brackets, quotes
// and comments; no two have one path.
void check_files(const std::vector<OutputFile>& files);

}  // namespace etch::fuzz
