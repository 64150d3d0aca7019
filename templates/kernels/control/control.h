// Kernels of loops: the number of the trip, and slices of results; see runtime/etch_loop.h.
#pragma once

#include <cstdint>

#include "templates/external/loop.h"
#include "templates/kernels/arguments.h"

namespace etch {

// Operand 0: the trip, which becomes the next one.
struct NextTripPlan {};

// Operands: x, all dense bytes or a constant "x"; the trip; y, of which one slice becomes x.
struct PutSlicePlan {
  Argument x;
  int trip = 0, y = 0;
  int outer = 1, size = 1, bytes = 1;
  int reversed = 0;
};

template <class S>
void next_trip_kernel(S& s, const NextTripPlan&) {
  s.call(external::NextTrip{}, s.template operand<std::int64_t>(0));
}

template <class S>
void put_slice_kernel(S& s, const PutSlicePlan& plan) {
  s.call(external::PutSlice{}, pointer_to<std::uint8_t>(s, plan.x),
         s.template operand<const std::int64_t>(plan.trip),
         s.template operand<std::uint8_t>(plan.y), plan.outer, plan.size, plan.bytes,
         plan.reversed);
}

}  // namespace etch
