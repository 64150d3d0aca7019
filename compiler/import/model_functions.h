// The functions that a model file defines: for what only wants to know whether there are any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/limits.h"

namespace etch {

// The names in the order of the file, as the file spells them; none where it cannot be parsed.
std::vector<std::string> model_functions(std::string_view bytes, const Limits& limits);

}  // namespace etch
