// Pooling in assembly for Arm's cores: on those with Helium 16 maxima or four averages at a time,
// on those with the DSP instructions the maxima of a word. One function per row of pixels whose
// windows see the same taps; runtime/etch_pool.h says what each computes.
#pragma once

#include <optional>

#include "compiler/program/step.h"
#include "runtime/etch_pool.h"
#include "templates/isa/traits.h"

namespace etch {

// (const uint8_t* x, uint8_t* y), x at the first tap of the first pixel. Nothing where the core has
// no function: windows too large to be spelled out, fewer channels than a word, with Helium
// than two.
std::optional<AssemblyFunction> pool_maximum_function(const rt::PoolRow& row, const IsaTraits& isa);

// The same for averages with Helium, whose floats are never subnormal: nothing for scales so small
// that a product might be, or where the scaled average may leave int32.
std::optional<AssemblyFunction> pool_mean_function(const rt::PoolRow& row, const rt::PoolMean& mean,
                                                   const IsaTraits& isa);

}  // namespace etch
