// Convolutions for Arm cores with SIMD on halfwords, around the functions in assembly of
// compiler/kernels/conv/dsp (portable: runtime/etch_dsp.h). Row after row of the output: where
// there is padding, the rows of x that it reads are copied between columns of zero points, so that
// no tile meets a border; then tile after tile is widened into scratch memory and multiplied. Other
// forms of requantization than the assembly's, and a residual, take the accumulators from scratch
// memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/etch_dsp.h"
#include "templates/external/ops.h"
#include "templates/kernels/conv/conv_plan.h"
#include "templates/kernels/quantize/requantize.h"

namespace etch {

// Output rows one below the other that read the same kernel rows.
struct DspSegment {
  int rows = 1;
  std::int64_t y_first = 0;                               // elements of y to its first row
  std::vector<std::pair<int, std::int64_t>> kernel_rows;  // and the bytes of x to what they read
  std::int64_t x_advance = 0;                             // bytes of x from row to row
  std::int64_t r_first = 0;                               // bytes of the residual
};

// A function in assembly for tiles of so many pixels.
struct DspFunctions {
  int pixels = 0;      // 0: there is none
  std::string gather;  // its name; empty: the tile reads x itself
  std::string multiply;
};

struct DspConvPlan {
  enum class Form { kTiles, kRow, kDepthwise, kDirect };  // kDirect: tiles that read x itself
  Form form = Form::kTiles;
  std::vector<ConvLoop> axes;
  std::vector<DspSegment> segments;
  int columns = 1;
  DspFunctions tile, rest;  // all tiles but the last one of a row, which is smaller
  std::int64_t x_step = 0;  // bytes from output column to column
  std::int64_t y_step = 0;  // elements
  std::int64_t y_row = 0;
  std::int64_t r_step = 0, r_row = 0;  // bytes of the residual
  int channels = 1;                    // of a group
  std::int64_t stream_words = 0;       // of a group

  // Padding: rows are copied, `row_bytes` apart, to `left` bytes after their start. Otherwise
  // kernel rows are `row_bytes` apart in x.
  bool copies = false;
  std::string copy;         // the function
  std::int64_t copied = 0;  // bytes of a row
  std::int64_t row_bytes = 0, left = 0, rows_bytes = 0;
  int kernel_rows = 1;
  int padding = 0;  // the zero point of x, as stored

  // What a pixel gathers: `pieces` times `runs` of `words` words, out[pair of K][pixel].
  int pieces = 1, runs = 1, words = 1;
  std::int64_t piece_step = 0, run_step = 0;  // bytes
  rt::DspTaps taps{1, 1, 0, 0};               // of kDepthwise
  rt::MlaRuns direct{1, 1, 0};                // of kDirect
  bool halves = true;                         // SIMD on halfwords
  bool low = false;                           // products in r0 to r7 only; else as Cortex-M3
  int moved = 0;                              // weights of tiles and rows minus those packed
  bool joint = false;                         // those of two channels are one halfword
  bool nibbles = false;                       // joint weights that are one byte: 4 bits each
  bool widens = false;                        // kRow: x is not gathered, the function widens it
  bool compact = false;                       // little code
  bool byte_weights = false;                  // of kDepthwise, whose usual ones are halfwords

  rt::DspStore store{rt::kDspInt32, 0, 255, 0};  // of the assembly
  Requantize out;                                // of `finishes`, and the zero point of `store`
  bool finishes = false;                         // accumulators go through scratch memory
  std::optional<AddResidual> add;
  std::optional<rt::DspResidual> line;  // the assembly adds it, along the constant "line"
  // Operands; the residual is 1 if there is one. -1: it has none.
  int x = 0, y = 1, gathered = -1, rows = -1, sums = -1;

  int groups() const { return pieces * runs * words; }  // of 4 elements of K
  int zero_points() const { return out.zero_point * 0x10001; }
};

namespace dsp_detail {

inline constexpr std::string_view kDspHeader = "etch_dsp.h";

inline FloatUse floats_of(const rt::DspStore& store) {
  return store.result == rt::kDspFloat ? FloatUse::kUsed : FloatUse::kNone;
}

// Copies so many bytes of a row of x.
inline auto copy_call(const std::string& name, std::int64_t bytes) {
  const auto native = [bytes](const std::uint8_t* from, std::uint8_t* to) {
    std::copy_n(from, bytes, to);
  };
  return assembly_call({name, kOpsHeader, FloatUse::kNone}, native, bytes, bytes);
}

template <class S>
struct Place {
  typename S::template Ptr<const std::uint8_t> x;
  typename S::template Ptr<const std::int32_t> stream;
  typename S::Index y, residual;  // elements and bytes from the operands
  typename S::Index lane;         // the first of the group's factors
};

template <class S>
void gather(S& s, const DspConvPlan& plan, const DspFunctions& functions,
            const typename S::template Ptr<const std::uint8_t>& x) {
  using Index = typename S::Index;
  const auto out = s.template operand<std::int32_t>(plan.gathered);
  const int n = functions.pixels;
  const int piece_words = 2 * n * plan.runs * plan.words;
  const std::int64_t reach =
      (n - 1) * plan.x_step + (plan.runs - 1) * plan.run_step + 4 * plan.words;
  s.loop("piece", plan.pieces, [&](const Index& piece) {
    const auto native = [&](const std::uint8_t* from, std::int32_t* to) {
      rt::dsp_gather(from, to, n, plan.x_step, plan.words, plan.runs, plan.run_step);
    };
    s.call(assembly_call({functions.gather, kDspHeader, FloatUse::kNone}, native, reach,
                         4 * piece_words),
           x + piece * plan.piece_step, out + piece * piece_words);
  });
}

template <class S, class Y>
void multiply(S& s, const DspConvPlan& plan, const DspFunctions& functions, const Place<S>& at,
              const typename S::template Ptr<Y>& y) {
  const int n = functions.pixels;
  const std::int64_t stream = 4 * plan.stream_words;
  const std::int64_t written =
      ((n - 1) * plan.store.step + plan.channels) * static_cast<std::int64_t>(sizeof(Y));
  const AssemblyCall call(functions.multiply, kDspHeader, floats_of(plan.store));
  const bool depthwise = plan.form == DspConvPlan::Form::kDepthwise;
  if (depthwise || plan.form == DspConvPlan::Form::kDirect) {
    const rt::DspTaps& taps = plan.taps;
    const rt::MlaRuns& k = plan.direct;
    const std::int64_t of_pixel = depthwise ? (taps.rows - 1) * taps.row_step +
                                                  (taps.cols - 1) * taps.col_step + plan.channels
                                            : (k.runs - 1) * k.step + k.bytes;
    const auto native = [&](const std::uint8_t* x, const std::int32_t* w, Y* to, int zero_points) {
      if (!depthwise) {
        rt::mla_tile(x, w, to, zero_points, n, plan.x_step, k, plan.channels, plan.store);
      } else if (plan.halves && !plan.byte_weights) {
        rt::dsp_depthwise(x, w, to, zero_points, n, plan.x_step, taps, plan.channels, plan.store);
      } else {
        rt::mla_depthwise(x, w, to, zero_points, n, plan.x_step, taps, plan.channels, plan.store);
      }
    };
    s.call(assembly_call(call, native, (n - 1) * plan.x_step + of_pixel, stream, written), at.x,
           at.stream, y, plan.zero_points());
    return;
  }
  if (plan.widens) {
    const auto native = [&](const std::uint8_t* x, const std::int32_t* w, Y* to, int zero_points) {
      rt::dsp_row(x, w, to, zero_points, plan.groups(), plan.channels, plan.store, plan.moved,
                  plan.joint, plan.nibbles);
    };
    s.call(assembly_call(call, native, 4 * plan.groups(), stream, written), at.x, at.stream, y,
           plan.zero_points());
    return;
  }
  const typename S::template Ptr<const std::int32_t> gathered =
      s.template operand<const std::int32_t>(plan.gathered);
  const std::int64_t read = 8 * n * plan.groups();
  if constexpr (sizeof(Y) == 1) {
    if (plan.line) {
      const auto native = [&](const std::int32_t* x, const std::int32_t* w, std::uint8_t* to,
                              int zero_points, const std::uint8_t* residual,
                              const std::int32_t* line) {
        rt::dsp_tile_add(x, w, to, zero_points, residual, line, n, 2 * plan.groups(), plan.channels,
                         plan.store, *plan.line, plan.moved, plan.joint, plan.nibbles);
      };
      const std::int64_t added = (n - 1) * plan.r_step + plan.channels + plan.channels % 2;
      s.call(assembly_call(call, native, read, stream, written, added, 16), gathered, at.stream, y,
             plan.zero_points(), s.template operand<const std::uint8_t>(1) + at.residual,
             s.template constant<const std::int32_t>("line"));
      return;
    }
  }
  const auto native = [&](const std::int32_t* x, const std::int32_t* w, Y* to, int zero_points) {
    if (plan.form == DspConvPlan::Form::kRow) {
      rt::dsp_row(x, w, to, zero_points, plan.groups(), plan.channels, plan.store, plan.moved,
                  plan.joint, plan.nibbles);
    } else {
      rt::dsp_tile(x, w, to, zero_points, n, 2 * plan.groups(), plan.channels, plan.store,
                   plan.moved, plan.joint, plan.nibbles);
    }
  };
  s.call(assembly_call(call, native, read, stream, written), gathered, at.stream, y,
         plan.zero_points());
}

// Requantizes a tile's accumulators from scratch memory.
template <class S>
void finish(S& s, const DspConvPlan& plan, int pixels, const Place<S>& at) {
  using Index = typename S::Index;
  const auto sums = s.template operand<const std::int32_t>(plan.sums);
  const auto y = s.template operand<std::uint8_t>(plan.y);
  const auto some = [&](const Index& pixel, const Index& first, int count) {
    std::vector<typename S::I32> acc;
    acc.reserve(static_cast<std::size_t>(count));
    for (int c = 0; c < count; ++c)
      acc.push_back(s.load_i32(Name("acc").at("c", c), sums + pixel * plan.channels + first + c));
    Residual<S> residual;
    if (plan.add) {
      residual.plan = &*plan.add;
      residual.p =
          s.template operand<const std::uint8_t>(1) + at.residual + pixel * plan.r_step + first;
    }
    with_factors(s, plan.out, at.lane + first,
                 [&](const char*, const auto& pointer, const auto& make) {
                   store_tile(s, plan.out, count, count, {PixelPlace{}}, acc, make(pointer),
                              y + at.y + pixel * plan.y_step + first, residual);
                 });
  };
  s.loop("pixel", pixels, [&](const Index& pixel) {
    s.loop("quad", plan.channels / 4, [&](const Index& quad) { some(pixel, quad * 4, 4); });
    for (int c = plan.channels / 4 * 4; c < plan.channels; ++c)
      s.block([&] { some(pixel, Index(c), 1); });
  });
}

template <class S>
void one_tile(S& s, const DspConvPlan& plan, const DspFunctions& functions, const Place<S>& at) {
  if (!functions.gather.empty()) gather(s, plan, functions, at.x);
  if (plan.finishes) {
    multiply<S, std::int32_t>(s, plan, functions, at, s.template operand<std::int32_t>(plan.sums));
    finish(s, plan, functions.pixels, at);
  } else if (plan.store.result == rt::kDspInt32) {
    multiply<S, std::int32_t>(s, plan, functions, at,
                              s.template operand<std::int32_t>(plan.y) + at.y);
  } else {
    multiply<S, std::uint8_t>(s, plan, functions, at,
                              s.template operand<std::uint8_t>(plan.y) + at.y);
  }
}

// One row of the output; `at` is its first pixel.
template <class S>
void tiles(S& s, const DspConvPlan& plan, const Place<S>& at) {
  using Index = typename S::Index;
  const auto moved = [&](const Index& column) {
    Place<S> out = at;
    out.x = at.x + column * plan.x_step;
    out.y = at.y + column * plan.y_step;
    out.residual = at.residual + column * plan.r_step;
    return out;
  };
  const int n = plan.tile.pixels;
  s.loop("tile", plan.columns / n,
         [&](const Index& tile) { one_tile(s, plan, plan.tile, moved(tile * n)); });
  if (plan.rest.pixels > 0) one_tile(s, plan, plan.rest, moved(Index(plan.columns / n * n)));
}

// Fewer rows are copied by as many calls.
inline constexpr int kLeastCopyLoop = 2;

// How many rows are copied, if they are the same distance apart here and there; else 0.
inline int even_rows(const DspSegment& segment) {
  const auto& rows = segment.kernel_rows;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].first != rows[0].first + static_cast<int>(i) ||
        rows[i].second - rows[i - 1].second != rows[1].second - rows[0].second)
      return 0;
  }
  return static_cast<int>(rows.size());
}

template <class S>
void copy_rows(S& s, const DspConvPlan& plan, const DspSegment& segment,
               const typename S::template Ptr<const std::uint8_t>& x) {
  const auto rows = s.template operand<std::uint8_t>(plan.rows);
  const int together = plan.compact ? even_rows(segment) : 0;
  if (together > kLeastCopyLoop) {
    const std::int64_t first = segment.kernel_rows.front().first;
    const std::int64_t offset = segment.kernel_rows.front().second;
    const std::int64_t step = segment.kernel_rows[1].second - offset;
    s.loop("copy", together, [&](const typename S::Index& i) {
      s.call(copy_call(plan.copy, plan.copied), x + i * step + offset,
             rows + i * plan.row_bytes + (first * plan.row_bytes + plan.left));
    });
    return;
  }
  for (const auto& [row, offset] : segment.kernel_rows) {
    s.call(copy_call(plan.copy, plan.copied), x + offset,
           rows + (row * plan.row_bytes + plan.left));
  }
}

template <class S>
void one_segment(S& s, const DspConvPlan& plan, const DspSegment& segment, const Place<S>& at) {
  using Index = typename S::Index;
  for (int row = 0; plan.copies && row < plan.kernel_rows; ++row) {
    const bool read = std::any_of(segment.kernel_rows.begin(), segment.kernel_rows.end(),
                                  [&](const auto& each) { return each.first == row; });
    if (read) continue;
    s.call(external::Fill{},
           s.template operand<std::uint8_t>(plan.rows) + (row * plan.row_bytes + plan.left),
           plan.padding, static_cast<int>(plan.copied));
  }
  s.loop("row", segment.rows, [&](const Index& row) {
    Place<S> here = at;
    here.y = at.y + segment.y_first + row * plan.y_row;
    here.residual = at.residual + segment.r_first + row * plan.r_row;
    if (plan.copies) {
      copy_rows(s, plan, segment, at.x + row * segment.x_advance);
      here.x = s.template operand<const std::uint8_t>(plan.rows);
    } else {
      here.x = at.x + segment.kernel_rows.front().second + row * segment.x_advance;
    }
    tiles(s, plan, here);
  });
}

template <class S>
void around(S& s, const DspConvPlan& plan, std::size_t axis, const Place<S>& at) {
  using Index = typename S::Index;
  if (axis == plan.axes.size()) {
    if (plan.copies) {
      s.call(external::Fill{}, s.template operand<std::uint8_t>(plan.rows), plan.padding,
             static_cast<int>(plan.rows_bytes));
    }
    for (const DspSegment& segment : plan.segments)
      s.block([&] { one_segment(s, plan, segment, at); });
    return;
  }
  const ConvLoop& loop = plan.axes[axis];
  s.loop(loop.name, loop.count, [&](const Index& i) {
    Place<S> next = at;
    next.x = at.x + i * loop.x_step;
    next.y = at.y + i * loop.y_step;
    next.residual = at.residual + i * loop.r_step;
    if (loop.is_group) {
      next.stream = at.stream + i * plan.stream_words;
      next.lane = at.lane + i * plan.channels;
    }
    around(s, plan, axis + 1, next);
  });
}

}  // namespace dsp_detail

template <class S>
void dsp_conv_kernel(S& s, const DspConvPlan& plan) {
  using Index = typename S::Index;
  dsp_detail::around(
      s, plan, 0,
      {s.template operand<const std::uint8_t>(plan.x),
       s.template constant<const std::int32_t>("stream"), Index(0), Index(0), Index(0)});
}

}  // namespace etch
