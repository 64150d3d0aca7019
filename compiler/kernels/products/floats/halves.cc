// See halves.h.
#include "compiler/kernels/products/floats/halves.h"

#include <algorithm>
#include <cstdint>

#include "compiler/lower/halves.h"
#include "runtime/etch_float_matrix.h"

namespace etch {

namespace {

// What half_product() computes.
bool is_matrix(const FloatProductPlan& plan) {
  return plan.kind == FloatProductKind::kColumns && rt::is_matrix(plan.shape);
}

std::int64_t floats_per_column(const rt::FloatConvShape& s) {
  return std::int64_t{s.axis[0].kernel} * s.axis[1].kernel * s.axis[2].kernel * s.in;
}

// So many columns that tiles are as wide as those of floats, and that memory has room for: cores
// without vectors have little, and none for the columns of very deep convolutions (0).
int columns_at_once(const rt::FloatConvShape& s, const IsaTraits& isa) {
  constexpr std::int64_t kRoom = 256 << 10, kRoomWithoutVectors = 32 << 10;
  const bool little = isa.lanes == 1 && isa.objective != Objective::kSize;
  const std::int64_t least = isa.assembly != Assembly::kNone ? 4 : 8;
  std::int64_t columns = std::clamp<std::int64_t>(std::int64_t{4} * isa.lanes, least, rt::kPanel);
  const auto bytes = [&] { return columns * floats_per_column(s) * 4; };
  while (columns > least && bytes() > kRoom) columns /= 2;
  return little && bytes() > kRoomWithoutVectors ? 0 : static_cast<int>(columns);
}

}  // namespace

std::optional<HalfWeights> choose_halves(const FloatProductPlan& plan, const IsaTraits& isa,
                                         DType type) {
  constexpr std::int64_t kMany = 16;  // positions that one widened weight serves
  const rt::FloatConvShape& s = plan.shape;
  if (plan.kind != FloatProductKind::kColumns || (s.panel != 0 && s.panel != rt::kNarrowPanel))
    return std::nullopt;
  const bool for_size = isa.objective == Objective::kSize;
  const std::int64_t positions =
      std::int64_t{s.batch} * s.axis[0].out * s.axis[1].out * s.axis[2].out;
  // Of many rows the kernels of floats with 4 lanes have better tiles.
  const bool tiles = isa.lanes >= 8 || positions < kMany;
  if (is_matrix(plan) && tiles && widens_by_instructions(isa, type)) return HalfWeights{type};
  if (s.panel != 0) return std::nullopt;
  if (positions >= kMany && isa.objective != Objective::kRam) {
    const int columns = columns_at_once(s, isa);
    if (columns > 0) return HalfWeights{type, columns};
  }
  if (is_matrix(plan) && for_size) return HalfWeights{type};
  return std::nullopt;
}

std::int64_t floats_widened(const FloatProductPlan& plan) {
  return floats_per_column(plan.shape) * std::min(plan.halves.columns, plan.shape.out);
}

}  // namespace etch
