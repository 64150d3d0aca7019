// The second stage of a float product: the weights in the order in which its kernel reads them,
// panels of columns (runtime/etch_float_products.h).
#pragma once

#include <cstdint>

#include "compiler/ir/geometry/convolution.h"
#include "compiler/ir/geometry/matrix_product.h"
#include "compiler/ir/tensor.h"
#include "templates/isa/traits.h"
#include "templates/kernels/products/float_products.h"

namespace etch {

// How weights as they are in the model become panels.
rt::PackShape pack_shape(const ConvGeometry& g, bool depthwise);
rt::PackShape pack_shape(const ConvGeometry& g, const FloatProductPlan& planes);
rt::PackShape pack_shape(const MatMulGeometry& g);
rt::PackShape pack_shape(const GemmGeometry& g);

// One panel of all columns where so few rows of the other matrix use it that packing would cost
// more than it gains.
void leave_rows(rt::PackShape& shape, std::int64_t rows);

// Panels of the columns of one tile, for products of a matrix on AVX (etch_float_matrix.h):
// constants are packed anyhow, others if they fill more than one panel. Of wider panels a tile
// reads rows that are apart, which takes half of the first cache's sets and half of what is fetched
// ahead.
void narrow_panels(rt::PackShape& shape, bool constant, const IsaTraits& isa);

// Whether weights are one panel as they are, so that there is nothing to pack.
bool is_in_panels(const rt::PackShape& shape);

Tensor in_panels(const Tensor& weights, const rt::PackShape& shape);

// Of a transposed convolution whose taps stay apart (plan.h), with the columns of `inner` positions
// of the kernel side by side: its weights in panels, and its bias once per position.
Tensor panels_of_taps(const ConvGeometry& g, const Tensor& weights, std::int64_t inner);
// Of a transposed convolution of planes, see etch_float_transposed_planes.h.
Tensor panels_of_phases(const Tensor& weights, const rt::FloatConvShape& shape);
Tensor repeated(const Tensor& tensor, std::int64_t times);

}  // namespace etch
