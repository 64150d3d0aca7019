// Products of two matrices that arrive at run time, on Arm cores with Helium: the step packs the
// second matrix as the stream of a convolution's functions in assembly, and calls these
// (templates/kernels/products/mve_product.h). Serves bytes with zero points and scales that are
// known; packed_product.h serves the rest.
#pragma once

#include "compiler/kernels/products/packed_product.h"
#include "templates/kernels/products/mve_product.h"

namespace etch {

ETCH_PLAN_STEP(MveProductStep, MveProductPlan, mve_product_kernel, kDependent);

bool mve_product_serves(Lowering& lowering, const Node& node, const PackedProduct& product);

// Of a product that it serves, with y as its output; false if steps of y are out of reach.
bool add_mve_product(Lowering& lowering, const Node& node, const PackedProduct& product,
                     const View& y);

}  // namespace etch
