// What a name in the file has to be. Internal to import/.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/limits.h"

namespace etch {

// True for UTF-8 of at most Limits::name_bytes bytes, else false after E-NAME or E-LIMIT.
bool check_name(const std::string& name, const std::string& location, const Limits& limits,
                Sink& sink);

}  // namespace etch
