// Products of two matrices that both arrive at run time, on the tiles for Arm cores with Helium
// (mve_conv.h): the second matrix is packed into scratch memory first, by
// runtime/etch_mve_columns.h, as constant weights are by the compiler.
#pragma once

#include <cstdint>

#include "templates/external/mve_columns.h"
#include "templates/kernels/conv/mve_conv.h"
#include "templates/kernels/products/matrices.h"

namespace etch {

// Operand 0 is a, as uint8 and with dense rows.
struct MveProductPlan {
  Argument b;
  rt::MveColumns columns{};
  MatrixPairs pairs;
  MveConvPlan conv;  // of one pair; its operands are this step's
};

template <class S>
void mve_product_kernel(S& s, const MveProductPlan& p) {
  using Index = typename S::Index;
  RowPlace<S> start;
  for (Index& each : start) each = Index(0);
  const auto pack = [&](const Index& matrix) {
    s.call(external::MvePackColumns{}, p.columns, pointer_to<std::uint8_t>(s, p.b) + matrix,
           s.template constant<const float>("scale"),
           s.template operand<std::int32_t>(p.conv.stream));
  };
  over_matrices(s, p.pairs, 0, start, pack, [&](const Index& a, const Index& y) {
    mve_detail::Place<S> place;
    place.x = a;
    place.y = y;
    mve_conv_kernel_at(s, p.conv, place);
  });
}

}  // namespace etch
