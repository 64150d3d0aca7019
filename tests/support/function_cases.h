// Cases of functions of one float, powers and arithmetic of several tensors.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

std::vector<Case> function_cases(int count);
std::vector<Case> power_cases(int count);
std::vector<Case> variadic_cases(int count);  // Sum, Max, Min of one to four; Dropout

}  // namespace etch
