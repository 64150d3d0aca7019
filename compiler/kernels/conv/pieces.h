// A convolution's geometry as kernels walk it: three axes, the loops around them, and the bytes of
// x that one output position multiplies, as pieces of memory in the order of K.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/kernels/conv/problem.h"
#include "compiler/kernels/conv/regions.h"
#include "templates/kernels/conv/conv_plan.h"

namespace etch {

// The geometry with exactly three axes (missing outer ones have size 1).
struct Axes3 {
  ConvAxis axis[3];
  std::int64_t x_stride[3] = {}, y_stride[3] = {}, r_stride[3] = {};  // bytes, elements, bytes
  std::int64_t halo_begin[3] = {}, halo_end[3] = {};
};
Axes3 three_axes(const ConvProblem& problem);

// Over images, where there are several, and over groups.
std::vector<ConvLoop> loops_over_images(const ConvProblem& problem);
std::vector<ConvLoop> loops_around(const ConvProblem& problem);

// (tap, channel in group) of a byte of K; tap -1: padding.
using KByte = std::pair<int, int>;

// Contiguous bytes of x, and what each of them is.
struct Piece {
  std::int64_t offset = 0;
  std::vector<KByte> k;
};

// All taps of a region as pieces, merged where their bytes touch.
std::vector<Piece> pieces_of(const Axes3& axes, const Segment* const segment[3], int channels,
                             std::int64_t channel_stride);

// The lowest offset; 0 if there are no pieces.
std::int64_t first_byte(const std::vector<Piece>& pieces);

// All taps of the kernel: 0, 1, ...
std::vector<int> all_taps(const ConvProblem& problem);

}  // namespace etch
