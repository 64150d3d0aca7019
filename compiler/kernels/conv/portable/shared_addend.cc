// See shared_addend.h.
#include "compiler/kernels/conv/portable/shared_addend.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "compiler/kernels/conv/portable/weight_parts.h"
#include "compiler/program/constants.h"

namespace etch {

namespace {

// Fewer channels cost less than a pass over x.
constexpr std::int64_t kLeastDepth = 64, kLeastChannels = 32;
constexpr std::int64_t kMostBytes = 65'536;  // of the terms of all pixels
constexpr std::int64_t kLargestByte = 255;
constexpr int kCentre = 128;  // from which rt::row_terms() counts

std::int64_t pixels_of(const ConvGeometry& g) {
  std::int64_t out = 1;
  for (const ConvAxis& axis : g.axes) out *= axis.out;
  return out;
}

// Whether all output pixels are the input pixels in their order, one dense row of channels each.
bool is_one_matrix(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  const bool plain = g.direction == ConvDirection::kForward && g.group == 1 && g.batch == 1 &&
                     std::ranges::all_of(g.axes, [](const ConvAxis& a) {
                       return a.kernel == 1 && a.stride == 1 && a.in == a.out;
                     });
  if (!plain) return false;
  const auto dense = [](const View& view, std::int64_t pixel) {
    for (std::size_t d = view.shape.size(); d-- > 2;) {
      if (view.stride[d] != pixel) return false;
      pixel *= view.shape[d];
    }
    return true;
  };
  return problem.x.stride[1] == 1 && dense(problem.x, g.in_channels) &&
         dense(problem.y, problem.y.stride.back()) &&
         (!problem.residual || dense(problem.residual->view, problem.residual->view.stride.back()));
}

// Whether at least a quarter of the groups of 4 bytes of K have second parts of weights: each of
// them takes as long as one of the first.
bool has_many_second_parts(const ConvProblem& problem) {
  const ConvGeometry& g = problem.geometry;
  std::int64_t wide = 0;
  for (std::int64_t first = 0; first < g.in_channels; first += 4) {
    bool here = false;
    for (std::int64_t c = first; c < std::min(first + 4, g.in_channels); ++c) {
      for (std::int64_t m = 0; m < g.out_channels && !here; ++m) {
        const int w = problem.weight(m, 0, c);
        here = w < INT8_MIN || w > INT8_MAX;
      }
    }
    wide += here ? 4 : 0;
  }
  return 4 * wide >= g.in_channels;
}

}  // namespace

std::optional<int> shared_addend(const ConvProblem& problem, const IsaTraits& isa,
                                 const Tuning& tuning) {
  const ConvGeometry& g = problem.geometry;
  const bool widens = widening_pays(problem, isa, tuning);
  const bool has_kernel = isa.lanes > 1 && (isa.weight_form == WeightForm::kS8x4 || widens) &&
                          !isa.lane_products && !isa.square_products &&
                          isa.moved == 0;  // sums of pixels are sums of bytes as they are
  if (!has_kernel || problem.run_time || problem.in_a_loop || g.in_channels < kLeastDepth ||
      g.out_channels < kLeastChannels || !is_one_matrix(problem) ||
      pixels_of(g) * isa.lanes * bytes_of(DType::kS32) > kMostBytes)
    return std::nullopt;
  const auto [least, most] = std::ranges::minmax(problem.weights);
  if (most - least > UINT8_MAX) return std::nullopt;
  const int addend = most > INT8_MAX ? most - INT8_MAX : std::min(least - INT8_MIN, 0);
  if (addend == 0 || (!widens && !has_many_second_parts(problem))) return std::nullopt;
  // So that lanes without a channel stay within int32, too.
  const bool fits =
      g.in_channels * kLargestByte * 2 * INT8_MAX < std::numeric_limits<std::int32_t>::max();
  return fits ? std::optional(addend) : std::nullopt;
}

rt::RowTerms terms_of_pixels(const ConvProblem& problem, const IsaTraits& isa) {
  rt::RowTerms out{};
  out.rows = static_cast<std::int32_t>(pixels_of(problem.geometry));
  out.depth = static_cast<std::int32_t>(problem.geometry.in_channels);
  out.lanes = isa.lanes;
  out.row_step = problem.geometry.in_channels;
  return out;
}

ConstantArray addend_constant(int addend) {
  return byte_array("addend", {std::byte{0}, static_cast<std::byte>(kCentre - addend)},
                    "0, and 128 minus what all weights have in common");
}

}  // namespace etch
