// Weights for dot_sums16, which adds the products of two neighbouring bytes in 16 bits
// (vpmaddubsw): a byte a weight instead of two, and three instructions where exact ones of 16 bits
// take four. Where two weights of one sign are so large that their sum might saturate, they are
// divided in two parts, whose products both fit. Trained weights are seldom so large side by side,
// so second parts are a list of their own for each block of channels, with the places of their
// bytes in x (docs/decisions/0004-exact-dot-product-without-vnni.md).
#pragma once

#include <array>
#include <cstddef>

#include "compiler/kernels/conv/portable/plan.h"
#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/conv/tuning.h"
#include "templates/isa/traits.h"

namespace etch {

// Two neighbouring weights in two parts that add up to them, each of which fits_sums16().
struct TwoParts {
  std::array<int, 2> first, second;
};
TwoParts two_parts(int w0, int w1);

// Whether a group of 4 bytes of K, from taps.k[k0] on, has a weight with a second part in any of
// `count` channels from m on.
bool has_second_parts(const ConvProblem& problem, const RegionTaps& taps, std::size_t k0,
                      std::int64_t m, std::int64_t count);

// Whether dot_sums16 is possible, and second parts are so few that it pays.
bool sums16_pay(const ConvProblem& problem, const IsaTraits& isa, const Tuning& tuning,
                const PlannedConv& conv);

// Sets ConvRegion::rest and reach for the plan's blocks.
void plan_second_parts(const ConvProblem& problem, PlannedConv& conv);

}  // namespace etch
