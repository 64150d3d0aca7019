// QuantizeLinear of floats for Cortex-M cores with Helium, which has no division of vectors: the
// quotient comes from a product with the reciprocal and two fused ones that correct it, where that
// is proved to round to the same integer for every float.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/program/step.h"

namespace etch {

struct MveQuantize {
  int elements = 1;
  std::int64_t step = 1;  // bytes of y from element to element
  float scale = 1;
  int low = 0, high = 255;  // of the quotient
  int zero_point = 0;       // as stored
};

// What the assembly rounds: x, limited to [low, high] * scale, divided by products.
float quotient_by_products(float x, float scale, int low, int high);

// Whether the products give clamp(rne(fl(x / scale)), low, high) for all floats x, NaN as `low`.
bool divides_by_products(float scale, int low, int high);

// (const float* x, uint8_t* y), as rt::mve_quantize(). Nothing if the products do not serve, or y
// is out of reach.
std::optional<AssemblyFunction> mve_quantize(const MveQuantize& q);

}  // namespace etch
