// How the taps of a depthwise kernel are put into quads, the same for all of its regions, and how
// weights of 9 bits become int8.
#pragma once

#include <array>
#include <vector>

#include "compiler/kernels/conv/problem.h"
#include "templates/isa/traits.h"

namespace etch {

// A tap by its place in the kernel. Beyond the last row: a row that only a second output row reads.
struct TapPlace {
  int plane = 0, row = 0, col = 0;
};

struct PanelQuad {
  std::vector<TapPlace> at;                          // 1 to 4
  std::array<std::array<int, 4>, 2> taps{{{}, {}}};  // per output row: number of the tap, or -1
  std::array<int, 2> places = {};                    // per output row: index into PanelTaps::places
};

struct PanelTaps {
  int rows = 1;  // output rows together
  std::vector<PanelQuad> quads;
  std::vector<std::array<bool, 4>> places;  // which of a quad's four are taps: the sets that occur
};

// `kernel`: planes, rows, columns. For two output rows, at most three rows of taps.
PanelTaps panel_taps(const std::array<int, 3>& kernel, int rows);

// For each channel the d nearest to 0 for which all w - d are int8; zeros where the instruction set
// multiplies int16.
std::vector<int> weight_shifts(const ConvProblem& problem, const IsaTraits& isa);

// How many int8 parts the largest d has: 0 if all are 0. The parts of d add up to it.
int shift_parts(const std::vector<int>& shifts);
int part_of_shift(int shift, int part);

}  // namespace etch
