// Which taps of a convolution a tile really needs. Near the border some taps of some pixels are on
// padding; the biases of such pixels leave those taps out, and so do the products here, where
// otherwise the halo's zero points would be multiplied: a fifth of all products of a 3x3 kernel on
// a map of 7x7. A tile's place is static, so its code holds just the products that count.
//
// A TapGrid belongs to a region whose pixels have taps in a rectangle (kernel rows and columns).
// Along each axis every output position has a range of taps on the image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace etch {

// Pixels of a tile: rows [row, row_end) x columns [col, col_end).
struct PixelRect {
  int row = 0, row_end = 0, col = 0, col_end = 0;
  bool has(int r, int c) const { return r >= row && r < row_end && c >= col && c < col_end; }
  int count() const { return (row_end - row) * (col_end - col); }
};

// `repeat` times (kernel rows) `groups` groups of 4 consecutive bytes.
struct KRun {
  std::int64_t x_offset = 0;  // bytes from the pixel's first tap
  int repeat = 1;
  std::int64_t repeat_step = 0;  // bytes of x
  int groups = 0;
  int bytes = 0;  // of each repetition, at most 4 * groups; not needed where pixels share no vector
};

// A run together with its weights and the pixels of the tile that need it.
struct TileRun {
  KRun k;
  std::int64_t weights = 0;       // groups from the start of the block's weights
  std::int64_t weights_step = 0;  // groups per repetition
  PixelRect pixels;
};

// Taps [first, end) of one axis.
struct TapRange {
  int first = 0, end = 0;
  bool has(int tap) const { return tap >= first && tap < end; }
  bool operator==(const TapRange& o) const { return first == o.first && end == o.end; }
};

struct TapAxis {
  int taps = 1;
  std::int64_t x_step = 0;      // bytes of x from tap to tap
  std::vector<TapRange> kinds;  // the different ranges that occur; none is empty
  std::vector<int> kind;        // of each output position
  const TapRange& range(int position) const {
    return kinds[static_cast<std::size_t>(kind[static_cast<std::size_t>(position)])];
  }
  bool is_whole(int position) const { return range(position) == TapRange{0, taps}; }
};

struct TapGrid {
  TapAxis rows, cols;
  int groups = 0;              // of 4 bytes, per tap
  std::int64_t bias_step = 0;  // lanes from the biases of one kind of pixel to those of the next
  // The biases of kind (row, col) are the (row * cols.kinds.size() + col)th.
};

// What one tile computes, measured from its first tap and from the biases of its first pixel, so
// that tiles of different places may share their code.
struct TilePattern {
  std::string name;  // ends the name of the tile's function; empty where every pixel needs all taps
  std::vector<TileRun> runs;
  std::vector<std::int64_t> bias;  // lanes, per pixel
  // From the region's to the tile's:
  std::int64_t x_shift = 0;        // bytes
  std::int64_t weights_shift = 0;  // groups
  std::int64_t bias_shift = 0;     // lanes
};

// Tiles of the same size, one after the other, that need the same taps.
struct TileSpan {
  int first = 0;  // output position
  int size = 1;
  int count = 1;
};

namespace tap_grid_detail {

struct TapSpan {
  int first = 0, count = 1;  // taps
  int begin = 0, end = 0;    // positions of the tile that need them
};

// Taps of an axis with the positions of a tile that need them; taps that need the same positions
// stay together. Ranges move monotonously, so the positions of a tap are consecutive.
inline std::vector<TapSpan> spans_of(const TapAxis& axis, int first, int size) {
  std::vector<TapSpan> out;
  for (int tap = 0; tap < axis.taps; ++tap) {
    TapSpan span{tap, 1, size, 0};
    for (int i = 0; i < size; ++i) {
      if (!axis.range(first + i).has(tap)) continue;
      span.begin = std::min(span.begin, i);
      span.end = i + 1;
    }
    if (span.end == 0) continue;
    if (!out.empty() && out.back().begin == span.begin && out.back().end == span.end) {
      ++out.back().count;
    } else {
      out.push_back(span);
    }
  }
  return out;
}

// "_cols1to3_0to3x5_0to2": the taps of each position, counted from the tile's first one.
inline std::string name_of(const char* which, const TapAxis& axis, int first, int size, int from) {
  std::string out;
  bool whole = true;
  for (int i = 0; i < size;) {
    const TapRange& range = axis.range(first + i);
    int alike = 1;
    while (i + alike < size && axis.range(first + i + alike) == range) ++alike;
    whole = whole && axis.is_whole(first + i);
    out += (out.empty() ? "" : "_") + std::to_string(range.first - from) + "to" +
           std::to_string(range.end - from) + (alike > 1 ? "x" + std::to_string(alike) : "");
    i += alike;
  }
  return whole ? "" : which + out;
}

}  // namespace tap_grid_detail

// The tiles along an axis: full ones, then the remainder. Without an axis all need the same.
inline std::vector<TileSpan> tiles_along(const TapAxis* axis, int count, int tile) {
  std::vector<TileSpan> out;
  const auto same = [&](int a, int b, int size) {
    for (int i = 0; axis != nullptr && i < size; ++i) {
      if (!(axis->range(a + i) == axis->range(b + i))) return false;
    }
    return true;
  };
  for (int first = 0; first < count; first += tile) {
    const int size = std::min(tile, count - first);
    if (!out.empty() && out.back().size == size && same(out.back().first, first, size)) {
      ++out.back().count;
    } else {
      out.push_back({first, size, 1});
    }
  }
  return out;
}

inline TilePattern pattern_of(const TapGrid& grid, const TileSpan& rows, const TileSpan& cols) {
  TilePattern out;
  const auto bias_of = [&](int r, int c) {
    const auto row = static_cast<std::size_t>(grid.rows.kind[static_cast<std::size_t>(r)]);
    const auto col = static_cast<std::size_t>(grid.cols.kind[static_cast<std::size_t>(c)]);
    return static_cast<std::int64_t>(row * grid.cols.kinds.size() + col) * grid.bias_step;
  };
  out.bias_shift = bias_of(rows.first, cols.first);
  for (int r = 0; r < rows.size; ++r) {
    for (int c = 0; c < cols.size; ++c)
      out.bias.push_back(bias_of(rows.first + r, cols.first + c) - out.bias_shift);
  }
  const auto row_spans = tap_grid_detail::spans_of(grid.rows, rows.first, rows.size);
  const auto col_spans = tap_grid_detail::spans_of(grid.cols, cols.first, cols.size);
  const bool touching = grid.cols.x_step == std::int64_t{4} * grid.groups;
  for (const auto& h : row_spans) {
    for (const auto& w : col_spans) {
      const int pieces = touching ? 1 : w.count;
      for (int piece = 0; piece < pieces; ++piece) {
        const int tap = w.first + piece;
        TileRun run;
        run.k.x_offset = h.first * grid.rows.x_step + tap * grid.cols.x_step;
        run.k.repeat = h.count;
        run.k.repeat_step = grid.rows.x_step;
        run.k.groups = grid.groups * (touching ? w.count : 1);
        run.weights = (std::int64_t{h.first} * grid.cols.taps + tap) * grid.groups;
        run.weights_step = std::int64_t{grid.cols.taps} * grid.groups;
        run.pixels = {h.begin, h.end, w.begin, w.end};
        out.runs.push_back(run);
      }
    }
  }
  using tap_grid_detail::name_of;
  out.name = name_of("_rows", grid.rows, rows.first, rows.size, row_spans.front().first) +
             name_of("_cols", grid.cols, cols.first, cols.size, col_spans.front().first);
  out.x_shift = out.runs.front().k.x_offset;
  out.weights_shift = out.runs.front().weights;
  for (TileRun& run : out.runs) {
    run.k.x_offset -= out.x_shift;
    run.weights -= out.weights_shift;
  }
  return out;
}

}  // namespace etch
