// The product of two quantized tensors without floats: a line through the product p of the centred
// bytes that equals the float rule rne(fl(fl(p * scale) + y_zero)) (templates/kernels/rows/
// product.h) for every pair of bytes. The rule depends on p alone, which takes less than 65,536
// values; every line that is handed out has been compared with the rule on all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/program/requantize/sum_line.h"
#include "runtime/etch_integer.h"
#include "templates/kernels/rows/product.h"

namespace etch {

// (a - a_zero) * (b - b_zero) * factor + offset, divided by 2^bits and rounded, clamped: a byte as
// stored.
struct ProductLine {
  rt::SumForm form = rt::kWideSum;
  std::int32_t factor = 0;
  std::int64_t offset = 0;
  int bits = 32;  // of a wide one 32 at least
};

// What the float rule stores for the product `p`, clamped.
int product_by_rule(const ProductFactors& factors, const SumLimits& limits, int p);

// What the line gives, clamped.
int evaluate(const ProductLine& line, const SumLimits& limits, int p);

// The cheapest line that was found; nothing where none was: scales that are not positive, and rare
// ones that have a product next to a tie of which the rounding of the floats decides.
std::optional<ProductLine> find_product_line(const ProductFactors& factors,
                                             const SumLimits& limits);

}  // namespace etch
