// Limits under which models are fuzzed: lower than the usual ones, so that an execution takes
// milliseconds and what is slow for its size stands out.
#pragma once

#include "compiler/import/import.h"

namespace etch::fuzz {

ImportOptions import_options();

}  // namespace etch::fuzz
