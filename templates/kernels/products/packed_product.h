// Products of two matrices that both arrive at run time, on the tiles of convolutions with constant
// weights (conv.h): the second matrix is packed into scratch memory first, by
// runtime/etch_matmul.h, as constant weights are by the compiler. A loop over pairs of matrices is
// around both.
#pragma once

#include <cstdint>
#include <optional>

#include "templates/external/products.h"
#include "templates/kernels/arguments.h"
#include "templates/kernels/conv/conv.h"
#include "templates/kernels/products/matrices.h"

namespace etch {

// Operand 0 is a, as uint8 and with dense rows.
struct PackedProductPlan {
  Argument a_zero, b, b_zero;
  rt::PackedColumns columns{};            // of b; those of a block follow from `conv`
  std::optional<rt::RowTerms> row_terms;  // if the sums of rows count
  MatrixPairs pairs;
  ConvPlan conv;  // of one pair; its operands are this step's
};

namespace packed_product_detail {

// Weights and starts of all blocks of one matrix.
template <class S>
void pack(S& s, const PackedProductPlan& p, const typename S::Index& matrix) {
  using Byte = std::uint8_t;
  const auto b = pointer_to<Byte>(s, p.b) + matrix;
  const auto packed = s.template operand<Byte>(p.conv.operands.weights);
  const auto start = s.template operand<std::int32_t>(p.conv.operands.start);
  std::int64_t weights = p.conv.regions.front().weights;
  for (const ChannelBlock& block : p.conv.blocks) {
    rt::PackedColumns columns = p.columns;
    columns.cols = block.channels;
    columns.vectors = block.vectors;
    const int lanes = block.vectors * s.isa().lanes;
    const std::int64_t panel = p.conv.regions.front().panel_bytes(block, s.isa().weight_bytes());
    s.loop("block", block.repeat, [&](const typename S::Index& i) {
      using Index = typename S::Index;
      s.call(external::PackColumns{}, columns,
             b + Index(block.first * columns.col_step) + i * (block.channels * columns.col_step),
             pointer_to<Byte>(s, p.b_zero), pointer_to<Byte>(s, p.a_zero),
             packed + Index(weights) + i * panel,
             start + Index(block.first_lane) + i * std::int64_t{lanes});
    });
    weights += block.repeat * panel;
  }
}

template <class S>
void multiply(S& s, const PackedProductPlan& p, const typename S::Index& a,
              const typename S::Index& y) {
  if (p.row_terms) {
    using Byte = std::uint8_t;
    s.call(external::RowTermsOf{}, *p.row_terms, s.template operand<const Byte>(0) + a,
           pointer_to<Byte>(s, p.a_zero), pointer_to<Byte>(s, p.b_zero),
           s.template operand<std::int32_t>(p.conv.operands.row_terms));
  }
  conv_detail::Place<S> place;
  place.x = a;
  place.y = y;
  conv_kernel_at(s, p.conv, place);
}

}  // namespace packed_product_detail

template <class S>
void packed_product_kernel(S& s, const PackedProductPlan& plan) {
  using Index = typename S::Index;
  RowPlace<S> start;
  for (Index& each : start) each = Index(0);
  over_matrices(
      s, plan.pairs, 0, start, [&](const Index& b) { packed_product_detail::pack(s, plan, b); },
      [&](const Index& a, const Index& y) { packed_product_detail::multiply(s, plan, a, y); });
}

}  // namespace etch
