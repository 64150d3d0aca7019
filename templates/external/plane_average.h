// Descriptor of the function of runtime/etch_plane_average.h; see templates/external.h.
#pragma once

#include <cstdint>

#include "runtime/etch_plane_average.h"
#include "templates/external.h"
#include "templates/external/convert.h"

namespace etch::external {

struct AveragePlanes : RuntimeFunction {
  AveragePlanes() : RuntimeFunction("average_planes", "etch_plane_average.h", FloatUse::kUsed) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, int planes, int n, int start, float scale,
                  int zero_point, rt::Range range) const {
    rt::average_planes(x, y, planes, n, start, scale, zero_point, range);
  }
  auto spans(const std::uint8_t* x, std::uint8_t* y, int planes, int n, int, float, int,
             rt::Range) const {
    return spans_of(span(x, {{planes, n}}, n), span(y, {}, planes));
  }
};

}  // namespace etch::external
