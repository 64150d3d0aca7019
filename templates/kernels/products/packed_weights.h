// Kernels of products with packed weights: calls of runtime/etch_packed_weights.h and
// etch_packed_integers.h.
#pragma once

#include <cstdint>

#include "templates/external/packed_weights.h"
#include "templates/kernels/arguments.h"

namespace etch {

struct PackedWeightsPlan {
  rt::PackedProduct shape{};
  FloatSteps steps = FloatSteps::kSeparate;
  int bits = 4;
  bool float_zeros = false;
  Argument a, w, scales, zeros, bias;
  int widened = 0, y = 0;  // operands of the step
};

namespace packed_detail {

template <int bits, class Zero, class S>
void product(S& s, const PackedWeightsPlan& p) {
  s.call(external::PackedProduct<bits, Zero>{}.with(p.steps), p.shape, pointer_to<float>(s, p.a),
         pointer_to<std::uint8_t>(s, p.w), pointer_to<float>(s, p.scales),
         pointer_to<Zero>(s, p.zeros), pointer_to<float>(s, p.bias),
         s.template operand<float>(p.widened), s.template operand<float>(p.y));
}

template <int bits, class S>
void product(S& s, const PackedWeightsPlan& p) {
  if (p.float_zeros) return product<bits, float>(s, p);
  product<bits, std::uint8_t>(s, p);
}

}  // namespace packed_detail

template <class S>
void packed_weights_kernel(S& s, const PackedWeightsPlan& p) {
  if (p.bits == 2) return packed_detail::product<2>(s, p);
  if (p.bits == 4) return packed_detail::product<4>(s, p);
  packed_detail::product<8>(s, p);
}

// Rows that are quantized in blocks. `columns` of a panel: 16, 8, 4 or 1.
struct PackedIntegersPlan {
  rt::PackedIntegers shape{};
  int bits = 4, columns = 1;
  Argument a, w, scales, zeros, bias;
  int quantized = 0, a_sums = 0, a_scales = 0, y = 0;  // operands of the step
};

namespace packed_detail {

template <int bits, int columns, class S>
void integers(S& s, const PackedIntegersPlan& p) {
  const auto quantized = s.template operand<std::int8_t>(p.quantized);
  const auto sums = s.template operand<std::int32_t>(p.a_sums);
  const auto scales = s.template operand<float>(p.a_scales);
  s.call(external::QuantizeBlocks{}, p.shape.rows, p.shape.depth, p.shape.block,
         rt::values_of_word(bits), pointer_to<float>(s, p.a), quantized, sums, scales);
  s.call(external::PackedIntegers<bits, columns>{}, p.shape, quantized, sums, scales,
         pointer_to<std::uint8_t>(s, p.w), pointer_to<float>(s, p.scales),
         pointer_to<std::uint8_t>(s, p.zeros), pointer_to<float>(s, p.bias),
         s.template operand<float>(p.y));
}

template <int bits, class S>
void integers(S& s, const PackedIntegersPlan& p) {
  if (p.columns == 16) return integers<bits, 16>(s, p);
  if (p.columns == 8) return integers<bits, 8>(s, p);
  if (p.columns == 4) return integers<bits, 4>(s, p);
  integers<bits, 1>(s, p);
}

}  // namespace packed_detail

template <class S>
void packed_integers_kernel(S& s, const PackedIntegersPlan& p) {
  if (p.bits == 2) return packed_detail::integers<2>(s, p);
  if (p.bits == 4) return packed_detail::integers<4>(s, p);
  packed_detail::integers<8>(s, p);
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
