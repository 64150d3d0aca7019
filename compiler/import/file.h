// Reads a whole file that a user named.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/limits.h"

namespace etch {

// The bytes of the regular file at `path`. Reports E-IO when it is not one or cannot be read,
// E-LIMIT when it is longer than `most` bytes, both at `location` (empty: the diagnostic's file
// is the one read). Does not wait on pipes and devices.
std::optional<std::string> read_file(const std::string& path, std::size_t most,
                                     const std::string& location, Sink& sink);

// The same for a model, which has at most Limits::file_bytes.
std::optional<std::string> read_model_file(const std::string& path, const Limits& limits,
                                           Sink& sink);

}  // namespace etch
