// Chains on 8-bit tensors in which functions of single elements meet operators that look like them:
// they keep the shape, or nearly, and move elements (reversed, rolled, exchanged axes, resized,
// padded and cropped) or mix them (normalizations). A pass that takes a move for a function, or
// exchanges the two where it must not, changes results here.
#pragma once

#include <vector>

#include "tests/support/cases.h"

namespace etch {

// One Slice each, of every axis of several shapes and types: whole reversals, partial ones, steps
// of -2, as such, between DequantizeLinear and QuantizeLinear, and before a convolution.
std::vector<Case> reversing_slices();
// One operator each that keeps the shape [1, 1, ...] or [1, C, ...] but is no function of one
// element, between DequantizeLinear and QuantizeLinear.
std::vector<Case> mixing_operators();
// Two parts, one of them narrow, joined along each axis, with one operator before the narrow part,
// which may be written into the whole at once, with gaps between its elements.
std::vector<Case> narrow_parts();
// One to six operators each, drawn.
std::vector<Case> place_chains(int count);

}  // namespace etch
