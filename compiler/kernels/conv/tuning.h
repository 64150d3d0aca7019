// The tuning file: which tile, loop order and unrolling convolutions get instead of what the cost
// model would choose. Text, one line for each layer geometry and target; `etch tune` writes it, and
// people may. docs/tuning.md describes the format. It can change how fast code is, never what it
// computes.
//
//   avx512_vnni conv/1x64x56x56/1x64x56x56/k3x3/p1,1,1,1 tile=1x12 channels=32 outer=pixels
//   unroll=4
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/kernels/conv/tile_choice.h"

namespace etch {

struct TuningEntry {
  TileChoice choice;
  int line = 0;  // of the file
};

// (target, layer) to choice.
struct Tuning {
  std::map<std::pair<std::string, std::string>, TuningEntry> entries;
  // Not in the file: layers without an entry get choose_common_tiles(), so that networks for
  // several sizes have code in common.
  bool for_all_sizes = false;
};

// The entry of a layer, or null.
const TuningEntry* find_tuning(const Tuning& tuning, std::string_view target,
                               const std::string& layer);

struct TuningFault {
  int line = 0;
  std::string what;
};

// Every line that is no comment and no good entry becomes a fault.
Tuning parse_tuning(std::string_view text, std::vector<TuningFault>& faults);

// The line of one entry, without a comment or newline.
std::string tuning_line(const IsaTraits& isa, std::string_view layer, const TileChoice& choice);

}  // namespace etch
