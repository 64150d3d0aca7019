// Kernels of products with packed weights: calls of runtime/etch_packed_weights.h.
#pragma once

#include <cstdint>

#include "templates/external/packed_weights.h"
#include "templates/kernels/arguments.h"

namespace etch {

struct PackedWeightsPlan {
  rt::PackedProduct shape{};
  int bits = 4;
  bool quantizes_a = false, float_zeros = false;
  Argument a, w, scales, zeros, bias;
  int widened = 0, quantized = 0, a_scales = 0, y = 0;  // operands of the step
};

namespace packed_detail {

template <int bits, class Zero, bool integers, class S>
void product(S& s, const PackedWeightsPlan& p) {
  const auto a = pointer_to<float>(s, p.a);
  const auto w = pointer_to<std::uint8_t>(s, p.w);
  const auto scales = pointer_to<float>(s, p.scales);
  const auto zeros = pointer_to<Zero>(s, p.zeros);
  const auto bias = pointer_to<float>(s, p.bias);
  const auto widened = s.template operand<float>(p.widened);
  const auto y = s.template operand<float>(p.y);
  const external::PackedProduct<bits, Zero, integers> function;
  if constexpr (integers) {
    const auto quantized = s.template operand<float>(p.quantized);
    const auto a_scales = s.template operand<float>(p.a_scales);
    s.call(external::QuantizeBlocks{}, p.shape.rows, p.shape.depth, p.shape.block, a, quantized,
           a_scales);
    s.call(function, p.shape, quantized, a_scales, w, scales, zeros, bias, widened, y);
  } else {
    s.call(function, p.shape, a, a, w, scales, zeros, bias, widened, y);
  }
}

template <int bits, class S>
void product(S& s, const PackedWeightsPlan& p) {
  if (p.quantizes_a) return product<bits, std::uint8_t, true>(s, p);
  if (p.float_zeros) return product<bits, float, false>(s, p);
  product<bits, std::uint8_t, false>(s, p);
}

}  // namespace packed_detail

template <class S>
void packed_weights_kernel(S& s, const PackedWeightsPlan& p) {
  if (p.bits == 2) return packed_detail::product<2>(s, p);
  if (p.bits == 4) return packed_detail::product<4>(s, p);
  packed_detail::product<8>(s, p);
}

// Rows of a packed table, picked by indices.
struct PackedGatherPlan {
  rt::PackedTable table{};
  int bits = 4;
  bool wide = true;  // int64 indices, else int32
  Argument x, scales, zeros, indices;
  int y = 0;
  int count = 1;
};

namespace packed_detail {

template <int bits, class Index, class S>
void gather(S& s, const PackedGatherPlan& p) {
  s.call(external::GatherPacked<bits, Index>{}, p.table, pointer_to<std::uint8_t>(s, p.x),
         pointer_to<float>(s, p.scales), pointer_to<std::uint8_t>(s, p.zeros),
         pointer_to<Index>(s, p.indices), s.template operand<float>(p.y), p.count);
}

template <int bits, class S>
void gather(S& s, const PackedGatherPlan& p) {
  if (p.wide) return gather<bits, std::int64_t>(s, p);
  gather<bits, std::int32_t>(s, p);
}

}  // namespace packed_detail

template <class S>
void packed_gather_kernel(S& s, const PackedGatherPlan& p) {
  if (p.bits == 2) return packed_detail::gather<2>(s, p);
  if (p.bits == 4) return packed_detail::gather<4>(s, p);
  packed_detail::gather<8>(s, p);
}

}  // namespace etch
