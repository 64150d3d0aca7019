// Operators over windows of places.
#include "compiler/passes/compositions/rules.h"

namespace etch {

std::span<const Rule> window_rules() { return {}; }

}  // namespace etch
