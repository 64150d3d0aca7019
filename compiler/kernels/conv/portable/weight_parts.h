// Weights wider than int8 as a sum of int8 parts, each of which is issued as a tap of its own, and
// of what all of them have in common (shared_addend.h), which is not.
#pragma once

#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/conv/tuning.h"
#include "templates/isa/traits.h"

namespace etch {

struct WeightParts {
  int count = 1;
  int shared = 0;
  // The parts 0, 1, ... of a weight and `shared` add up to it.
  int of(int weight, int part) const;
};

// Whether weights that are int8, or will be without what they share, are better read as bytes that
// are widened to int16: where one or two pixels share them, reading them is most of the work,
// unless they stay in a cache.
bool widening_pays(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning);

// As many as the problem's widest weight needs; one where the instruction set multiplies int16.
WeightParts parts_needed(const ConvProblem& problem, const IsaTraits& isa);

}  // namespace etch
