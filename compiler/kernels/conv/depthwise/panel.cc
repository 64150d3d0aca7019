// See panel.h.
#include "compiler/kernels/conv/depthwise/panel.h"

#include <algorithm>
#include <cstdlib>

namespace etch {

namespace {

int number_of(const std::array<int, 3>& kernel, const TapPlace& at) {
  return (at.plane * kernel[1] + at.row) * kernel[2] + at.col;
}

// The quad that reads `at`; output row r takes the tap r rows above.
PanelQuad quad_of(const std::array<int, 3>& kernel, int rows, std::vector<TapPlace> at) {
  PanelQuad quad;
  for (std::size_t r = 0; r < 2; ++r) {
    quad.taps[r].fill(-1);
    for (std::size_t i = 0; i < at.size() && static_cast<int>(r) < rows; ++i) {
      TapPlace tap = at[i];
      tap.row -= static_cast<int>(r);
      if (tap.row >= 0 && tap.row < kernel[1]) quad.taps[r][i] = number_of(kernel, tap);
    }
  }
  quad.at = std::move(at);
  return quad;
}

// Which sets of places occur, each once.
void number_places(PanelTaps& panel) {
  for (PanelQuad& quad : panel.quads) {
    for (int r = 0; r < panel.rows; ++r) {
      const auto row = static_cast<std::size_t>(r);
      std::array<bool, 4> here{};
      for (std::size_t i = 0; i < 4; ++i) here[i] = quad.taps[row][i] >= 0;
      const auto known = std::ranges::find(panel.places, here);
      quad.places[row] = static_cast<int>(known - panel.places.begin());
      if (known == panel.places.end()) panel.places.push_back(here);
    }
  }
}

// Quads of rows [first, end) of every column.
void append_columns(const std::array<int, 3>& kernel, int rows, int first, int end,
                    PanelTaps& panel) {
  for (int plane = 0; plane < kernel[0]; ++plane) {
    for (int col = 0; col < kernel[2]; ++col) {
      std::vector<TapPlace> at;
      for (int row = first; row < end; ++row) at.push_back({plane, row, col});
      panel.quads.push_back(quad_of(kernel, rows, std::move(at)));
    }
  }
}

// What remains from row `first` on, four taps at a time.
void append_rest(const std::array<int, 3>& kernel, int first, PanelTaps& panel) {
  std::vector<TapPlace> at;
  const auto flush = [&] {
    if (!at.empty()) panel.quads.push_back(quad_of(kernel, 1, std::move(at)));
    at.clear();
  };
  for (int plane = 0; plane < kernel[0]; ++plane) {
    for (int row = first; row < kernel[1]; ++row) {
      for (int col = 0; col < kernel[2]; ++col) {
        at.push_back({plane, row, col});
        if (at.size() == 4) flush();
      }
    }
  }
  flush();
}

}  // namespace

PanelTaps panel_taps(const std::array<int, 3>& kernel, int rows) {
  PanelTaps panel;
  panel.rows = rows;
  if (rows == 2) {
    append_columns(kernel, rows, 0, kernel[1] + 1, panel);
  } else {
    // Columns of three keep their fourth place empty, so that neighbours share more quads.
    int first = 0;
    for (; kernel[1] - first >= 3; first = std::min(first + 4, kernel[1]))
      append_columns(kernel, rows, first, std::min(first + 4, kernel[1]), panel);
    append_rest(kernel, first, panel);
  }
  number_places(panel);
  return panel;
}

std::vector<int> weight_shifts(const ConvProblem& problem, const IsaTraits& isa) {
  std::vector<int> out(static_cast<std::size_t>(problem.geometry.out_channels), 0);
  if (isa.weight_form == WeightForm::kS16EvenOdd) return out;
  const auto taps = static_cast<std::ptrdiff_t>(problem.taps());
  auto first = problem.weights.begin();
  for (int& shift : out) {
    const auto [least, most] = std::minmax_element(first, first + taps);
    if (*most > 127) shift = *most - 127;
    if (*least < -128) shift = *least + 128;
    first += taps;
  }
  return out;
}

int shift_parts(const std::vector<int>& shifts) {
  const int most = *std::ranges::max_element(shifts);
  const int least = *std::ranges::min_element(shifts);
  return most > 127 ? 2 : most > 0 || least < 0 ? 1 : 0;
}

int part_of_shift(int shift, int part) {
  const int first = std::min(shift, 127);
  return part == 0 ? first : shift - first;
}

}  // namespace etch
