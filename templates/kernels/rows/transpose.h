// Copies that exchange the two innermost axes of a matrix of bytes or of elements of 2, 4 or 8
// bytes: found in a nest, and left to the runtime in strips of columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "templates/external/move.h"
#include "templates/kernels/rows/nest.h"
#include "templates/stage.h"

namespace etch {

// y[j * y_row + i] = x[i * x_row + j], in elements of `size` bytes; rows in bytes. The axes of the
// nest that it takes are `row` and, where elements have several bytes, `column`; those of bytes are
// its run.
struct TransposedPart {
  int size = 1;
  int rows = 1, columns = 1;
  std::int64_t x_row = 0, y_row = 0;
  std::size_t row = 0;
  std::optional<std::size_t> column;
};

namespace nest_detail {

// Rows and columns: fewer, and fewer than kLeastPixels pixels of 2 or 3 elements, are left to
// vectors and loops.
inline constexpr int kLeastRows = 4, kLeastChannels = 2, kLeastPixels = 16;

// The last axis for which is_it(axis) holds.
template <class Predicate>
std::optional<std::size_t> last_axis(const Nest& nest, Predicate is_it) {
  for (std::size_t a = nest.axes.size(); a > 0; --a) {
    if (is_it(nest.axes[a - 1])) return a - 1;
  }
  return std::nullopt;
}

inline bool is_worth_it(const TransposedPart& part) {
  const auto in_range = [](std::int64_t step) {
    return step > 0 && step <= std::numeric_limits<std::int32_t>::max();
  };
  const auto [few, many] = std::minmax(part.rows, part.columns);
  const bool is_large = few >= kLeastRows || (few >= kLeastChannels && many >= kLeastPixels);
  return is_large && in_range(part.x_row) && in_range(part.y_row);
}

// Elements of 2 and 8 bytes are left to a loop over them where there are no vectors to zip.
inline bool is_element(int size, const IsaTraits& isa) {
  const bool zips = isa.vectorized && isa.assembly == Assembly::kNone;
  return size == 4 || (zips && (size == 2 || size == 8));
}

// `flip`: what every byte is changed by; elements of several bytes are moved as they are.
inline std::optional<TransposedPart> transposed_part(const Nest& nest, int flip,
                                                     const IsaTraits& isa) {
  constexpr int kOut = kNestOperands - 1;
  if (nest.planes > 1) return std::nullopt;
  TransposedPart part;
  if (nest.out_step > 1) {
    const auto row = last_axis(nest, [](const NestAxis& axis) { return axis.step[kOut] == 1; });
    if (!row) return std::nullopt;
    part = {1, nest.axes[*row].count, nest.run, nest.axes[*row].step[0], nest.out_step, *row, {}};
  } else if (is_element(nest.run, isa) && nest.out_step == 1 && flip == 0) {
    const auto row =
        last_axis(nest, [&](const NestAxis& axis) { return axis.step[kOut] == nest.run; });
    const auto column =
        last_axis(nest, [&](const NestAxis& axis) { return axis.step[0] == nest.run; });
    if (!row || !column || *row == *column) return std::nullopt;
    part = {nest.run,
            nest.axes[*row].count,
            nest.axes[*column].count,
            nest.axes[*row].step[0],
            nest.axes[*column].step[kOut],
            *row,
            column};
  } else {
    return std::nullopt;
  }
  return is_worth_it(part) ? std::optional(part) : std::nullopt;
}

// The loops around the matrix.
inline Nest around(const Nest& nest, const TransposedPart& part) {
  Nest out;
  for (int o = 0; o < kNestOperands; ++o) out.offset[o] = nest.offset[o];
  for (std::size_t a = 0; a < nest.axes.size(); ++a) {
    if (a != part.row && a != part.column) out.axes.push_back(nest.axes[a]);
  }
  return out;
}

// `x` and `y` are where the nest's operands start.
template <class S>
void transpose(S& s, const Nest& nest, const TransposedPart& part, int flip,
               const typename S::template Ptr<const std::uint8_t>& x,
               const typename S::template Ptr<std::uint8_t>& y) {
  using Index = typename S::Index;
  constexpr int kStrip = 64;  // columns: what a loop, and so a thread, takes
  const Nest loops = around(nest, part);
  const auto strip = [&](const At<S>& at, const Index& first, int columns) {
    const auto from = x + at.i[0] + first * part.size;
    const auto to = y + at.i[kNestOperands - 1] + first * part.y_row;
    const int x_row = static_cast<int>(part.x_row), y_row = static_cast<int>(part.y_row);
    if (part.size == 1) {
      s.call(external::TransposeBytes{}, from, x_row, to, y_row, part.rows, columns, flip);
    } else if (part.size == 2) {
      s.call(external::TransposeElements<2>{}, from, x_row, to, y_row, part.rows, columns);
    } else if (part.size == 4) {
      s.call(external::TransposeElements<4>{}, from, x_row, to, y_row, part.rows, columns);
    } else {
      s.call(external::TransposeElements<8>{}, from, x_row, to, y_row, part.rows, columns);
    }
  };
  At<S> start;
  for (int o = 0; o < kNestOperands; ++o) start.i[o] = Index(loops.offset[o]);
  walk(s, loops, 0, start, [&](const At<S>& at) {
    // The last strip is not narrow: blocks have to fit.
    int full = part.columns / kStrip;
    if (full > 0 && part.columns % kStrip < rt::kTransposeLeast) --full;
    const int rest = part.columns - full * kStrip;
    if (full > 0) {
      s.loop("strip", full, [&](const Index& i) { strip(at, i * kStrip, kStrip); });
    }
    strip(at, Index(full * kStrip), rest);
  });
}

}  // namespace nest_detail
}  // namespace etch
