// Cases of operators that move elements (Concat, Slice, Split, Pad, Resize ...) alone, on every
// element type, and between convolutions, where they become views or places in larger tensors.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

std::vector<Case> move_cases(int count);    // `count` of each operator
std::vector<Case> resize_cases(int count);  // nearest, linear, cubic
std::vector<Case> antialias_cases(int count);
std::vector<Case> networks_that_move(int count);  // among quantized convolutions

}  // namespace etch
