// Descriptors of the functions of runtime/etch_loop.h; see templates/external.h. Whatever the trip
// is, its slice is limited to the axis.
#pragma once

#include "runtime/etch_loop.h"
#include "templates/external.h"

namespace etch {
namespace external {

struct NextTrip : RuntimeFunction {
  NextTrip() : RuntimeFunction("next_trip", "etch_loop.h", FloatUse::kNone) {}
  void operator()(std::int64_t* trip) const { rt::next_trip(trip); }
  auto spans(std::int64_t* trip) const { return spans_of(span(trip, {}, 1)); }
};

struct PutSlice : RuntimeFunction {
  PutSlice() : RuntimeFunction("put_slice", "etch_loop.h", FloatUse::kNone) {}
  void operator()(const std::uint8_t* x, const std::int64_t* trip, std::uint8_t* y, int outer,
                  int size, int bytes, int reversed) const {
    rt::put_slice(x, trip, y, outer, size, bytes, reversed);
  }
  auto spans(const std::uint8_t* x, const std::int64_t* trip, std::uint8_t* y, int outer, int size,
             int bytes, int) const {
    const std::int64_t slices = std::int64_t{outer} * bytes;
    return spans_of(span(x, {}, slices), span(trip, {}, 1), span(y, {}, slices * size));
  }
};

}  // namespace external
}  // namespace etch
