// Which floats may be rounded to int32 as they are (verbs round_i32 and scale_round): bounds of the
// float from constant factors, taken through the very operations of the kernel. Where the proof
// fails, which takes scales that differ by a factor of some millions, the kernel clamps the float
// first. Kernels whose floats are always clamped need no proof.
#pragma once

#include <cstdint>

#include "templates/kernels/pool/pool.h"
#include "templates/kernels/rows/sum.h"

namespace etch {

// Sums of any two bytes.
bool may_leave_int32(const SumFactors& factors);

// Averages (PoolPlan::Kind::kAverage) over the windows of plan.regions.
bool may_leave_int32(const PoolPlan& plan);

// fl(fl(acc) * scale) of accumulators in [least, most]; where these leave int32 the accumulator
// wraps and can be any.
bool may_leave_int32(std::int64_t least, std::int64_t most, float scale);

// For Step::facts, where a kernel clamps.
inline constexpr const char* kClampedFact = "results may leave int32: clamped before rounding";

}  // namespace etch
