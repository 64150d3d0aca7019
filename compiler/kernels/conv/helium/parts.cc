// See parts.h.
#include "compiler/kernels/conv/helium/parts.h"

#include <algorithm>
#include <bit>

#include "compiler/kernels/conv/pieces.h"
#include "compiler/kernels/conv/proof.h"

namespace etch {

std::int64_t positions_read(const ConvAxis& axis) {
  return (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

std::int64_t positions_inside(const ConvAxis& axis) {
  return std::min(axis.in, positions_read(axis) - axis.pad_begin);
}

int mve_parts(const ConvProblem& problem) {
  int parts = 1;
  for (const int weight : problem.weights) {
    while (weight < parts * INT8_MIN || weight > parts * INT8_MAX) ++parts;
  }
  return parts;
}

int mve_part(int weight, int part) {
  for (int i = 0; i < part; ++i) weight -= std::clamp<int>(weight, INT8_MIN, INT8_MAX);
  return std::clamp<int>(weight, INT8_MIN, INT8_MAX);
}

rt::MveStore mve_store(const Requantize& out, std::int64_t step) {
  return {out.kind == Requantize::Kind::kInt32, out.zero_point, out.low, out.high,
          static_cast<std::ptrdiff_t>(step)};
}

void append_mve_factors(const ConvProblem& problem, std::int64_t m,
                        std::vector<std::int32_t>& stream) {
  const std::vector<int> taps = all_taps(problem);
  std::uint32_t sum = 0;
  for (const int tap : taps) sum += static_cast<std::uint32_t>(problem.weight(m, tap, 0));
  const auto bias = static_cast<std::uint32_t>(folded_bias(problem, m, taps));
  stream.push_back(static_cast<std::int32_t>(bias + 128 * sum));
  if (problem.scale.empty()) return;
  stream.push_back(std::bit_cast<std::int32_t>(problem.scale[static_cast<std::size_t>(m)]));
}

}  // namespace etch
