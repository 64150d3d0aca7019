// Models with Loop, Scan and If: bodies of a few operators around what is hard about control flow,
// which is what lives how long, and where.
#pragma once

#include <vector>

#include "tests/support/cases.h"
#include "tests/support/model_builder.h"

namespace etch {

// One of each kind; the same every time.
std::vector<Case> control_cases();

// y = a loop of `trips` trips that adds x to what it carries, which begins as s. Both are [2, 3].
ModelBuilder adding_loop(std::int64_t trips);
// The same of three trips, of which y is what each carries: what is left at the end is omitted.
ModelBuilder collecting_loop();

}  // namespace etch
