// What differs between two recordings of one target, in words.
#pragma once

#include <string>
#include <vector>

#include "compiler/golden/file.h"

namespace etch::cli {

struct TargetChange {
  std::vector<std::string> lines;  // what changed, one line each; empty: nothing that matters
  bool code = false;               // generated files, other than reports, or sizes changed
  double growth = 0;               // of the size that grew most, in percent
};

// `now` is what this Etch makes of the target, `then` what was recorded. Sizes of compiled code are
// compared when both are of the same compiler.
TargetChange explain(const GoldenTarget& then, const GoldenTarget& now);

// One line for each output that differs. Samples that were not run count as equal.
std::vector<std::string> explain_outputs(const std::vector<GoldenSample>& then,
                                         const std::vector<GoldenSample>& now);

}  // namespace etch::cli
