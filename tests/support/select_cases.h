// Cases of operators that pick, compare, choose and rearrange elements: Gather, GatherElements,
// Where, comparisons, logic, Tile, DepthToSpace, SpaceToDepth, GatherND, ScatterND,
// ScatterElements, CumSum, CumProd, NonMaxSuppression of declared size, RoiAlign and
// operators of bits.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

std::vector<Case> select_cases(int count);  // `count` of each operator

// Where and comparisons of rows of several vectors, whole ones and with a rest, of every type that
// has vectors of its own; either operand may be one element.
std::vector<Case> wide_selections();

// Where of more elements of 4 bytes than a vector has.
std::vector<Case> longer_choices();

}  // namespace etch
