// Descriptor of the function of runtime/etch_byte_softmax.h; see templates/external.h.
#pragma once

#include <cstdint>

#include "runtime/etch_byte_softmax.h"
#include "templates/external.h"

namespace etch::external {

struct SoftmaxBytes : RuntimeFunction {
  SoftmaxBytes() : RuntimeFunction("softmax_bytes", "etch_byte_softmax.h", FloatUse::kUsed) {}
  void operator()(const std::uint8_t* x, std::uint8_t* y, const float* table, int rows, int n,
                  float y_inverse, int zero_point, int stored) const {
    rt::softmax_bytes(x, y, table, rows, n, y_inverse, zero_point, stored);
  }
  auto spans(const std::uint8_t* x, std::uint8_t* y, const float* table, int rows, int n, float,
             int, int) const {
    return spans_of(span(x, {{rows, n}}, n), span(y, {{rows, n}}, n), span(table, {}, 256));
  }
};

}  // namespace etch::external
