// 3x3 convolutions by Winograd around the functions in assembly of
// compiler/kernels/conv/winograd/functions.h (portable: runtime/etch_winograd.h). For every two
// rows of the output, the four rows of x that they read are copied between columns of zero points;
// then four tiles of 2x2 pixels at a time are transformed into scratch memory and multiplied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/etch_winograd.h"
#include "templates/kernels/conv/dsp_conv.h"

namespace etch {

struct DspWinogradPlan {
  int images = 1;
  std::int64_t x_image = 0, y_image = 0, r_image = 0;  // bytes
  // Of these, `rows` counts pairs of rows, and kernel_rows are some of four.
  struct Pairs {
    DspSegment segment;
    int rows = 2;                // of a pair that exist
    std::string multiply, last;  // functions of all fours of tiles and of the smaller last one
  };
  std::vector<Pairs> pairs;
  int columns = 1;                     // of the output
  int in = 4, out = 2;                 // channels
  std::int64_t y_step = 0, y_row = 0;  // bytes
  std::int64_t r_step = 0, r_row = 0;  // of the residual
  std::string copy, input;             // functions; no copy: all is padding
  std::int64_t copied = 0, row_bytes = 0, left = 0;
  int padding = 0;
  std::int64_t stream_words = 0;
  rt::DspStore store{rt::kDspInt32, 0, 255, 0};
  int zero_point = 0;
  std::optional<rt::DspResidual> line;
  int y = 3, rows = 1, transformed = 2;  // operands

  static constexpr int kColumns = 8;  // of four tiles
  int whole() const { return columns / kColumns; }
  int rest() const { return columns % kColumns; }
  std::int64_t position_words() const { return 2 * in + 8; }
};

namespace dsp_detail {

inline constexpr std::string_view kWinogradHeader = "etch_winograd.h";

template <class S>
struct WinogradPlace {
  typename S::Index x, y, residual;  // bytes from the operands
};

template <class S>
void four_tiles(S& s, const DspWinogradPlan& plan, const DspWinogradPlan::Pairs& pairs, int columns,
                const WinogradPlace<S>& at, const typename S::Index& group) {
  using Index = typename S::Index;
  const auto x = s.template operand<const std::uint8_t>(plan.rows);
  const auto v = s.template operand<std::int32_t>(plan.transformed);
  const Index first = group * (plan.kColumns * plan.in);
  const auto input = [&](const std::uint8_t* from, std::int32_t* to) {
    rt::winograd_input(from, to, plan.row_bytes, plan.in);
  };
  s.call(assembly_call({plan.input, kWinogradHeader, FloatUse::kNone}, input,
                       3 * plan.row_bytes + 10 * plan.in, 64 * plan.position_words()),
         x + first, v);
  const std::string& name = columns == plan.kColumns ? pairs.multiply : pairs.last;
  const rt::WinogradTiles size{plan.in,
                               plan.out,
                               pairs.rows,
                               columns,
                               static_cast<std::ptrdiff_t>(plan.y_row),
                               static_cast<std::ptrdiff_t>(plan.r_row)};
  const auto y =
      s.template operand<std::uint8_t>(plan.y) + at.y + group * (plan.kColumns * plan.y_step);
  const auto stream = s.template constant<const std::int32_t>("stream");
  const std::int64_t last = columns - 1, below = pairs.rows - 1;
  const std::int64_t written = below * plan.y_row + last * plan.y_step + plan.out;
  const int zero_points = plan.zero_point * 0x10001;
  const AssemblyCall call(name, kWinogradHeader, floats_of(plan.store));
  if (!plan.line) {
    const auto native = [&](std::int32_t* from, const std::int32_t* w, std::uint8_t* to, int zero) {
      rt::winograd_tiles(from, w, to, zero, nullptr, nullptr, size, plan.store, {});
    };
    s.call(assembly_call(call, native, 64 * plan.position_words(), 4 * plan.stream_words, written),
           v, stream, y, zero_points);
    return;
  }
  const auto native = [&](std::int32_t* from, const std::int32_t* w, std::uint8_t* to, int zero,
                          const std::uint8_t* residual, const std::int32_t* line) {
    rt::winograd_tiles(from, w, to, zero, residual, line, size, plan.store, *plan.line);
  };
  const std::int64_t added = below * plan.r_row + last * plan.r_step + plan.out;
  s.call(assembly_call(call, native, 64 * plan.position_words(), 4 * plan.stream_words, written,
                       added, 16),
         v, stream, y, zero_points,
         s.template operand<const std::uint8_t>(1) + at.residual +
             group * (plan.kColumns * plan.r_step),
         s.template constant<const std::int32_t>("line"));
}

template <class S>
void pairs_of_rows(S& s, const DspWinogradPlan& plan, const DspWinogradPlan::Pairs& pairs,
                   const WinogradPlace<S>& image) {
  using Index = typename S::Index;
  const DspSegment& segment = pairs.segment;
  const auto rows = s.template operand<std::uint8_t>(plan.rows);
  for (int row = 0; row < 4; ++row) {
    const bool read = std::any_of(segment.kernel_rows.begin(), segment.kernel_rows.end(),
                                  [&](const auto& each) { return each.first == row; });
    if (read || plan.copied == 0) continue;
    s.call(external::Fill{}, rows + (row * plan.row_bytes + plan.left), plan.padding,
           static_cast<int>(plan.copied));
  }
  s.loop("pair", segment.rows, [&](const Index& pair) {
    const WinogradPlace<S> at{image.x + pair * segment.x_advance,
                              image.y + segment.y_first + pair * (2 * plan.y_row),
                              image.residual + segment.r_first + pair * (2 * plan.r_row)};
    for (const auto& [row, offset] : segment.kernel_rows) {
      s.call(copy_call(plan.copy, plan.copied),
             s.template operand<const std::uint8_t>(0) + at.x + offset,
             rows + (row * plan.row_bytes + plan.left));
    }
    s.loop("group", plan.whole(),
           [&](const Index& group) { four_tiles(s, plan, pairs, plan.kColumns, at, group); });
    if (plan.rest() > 0) four_tiles(s, plan, pairs, plan.rest(), at, Index(plan.whole()));
  });
}

}  // namespace dsp_detail

template <class S>
void dsp_winograd_kernel(S& s, const DspWinogradPlan& plan) {
  using Index = typename S::Index;
  s.loop("image", plan.images, [&](const Index& image) {
    s.call(external::Fill{}, s.template operand<std::uint8_t>(plan.rows), plan.padding,
           static_cast<int>(4 * plan.row_bytes));
    const dsp_detail::WinogradPlace<S> at{image * plan.x_image, image * plan.y_image,
                                          image * plan.r_image};
    for (const DspWinogradPlan::Pairs& each : plan.pairs)
      s.block([&] { dsp_detail::pairs_of_rows(s, plan, each, at); });
  });
}

}  // namespace etch
