// How much flash generated code takes: constants exactly, code as estimated from what the Audit
// stage counts. Compilers differ by more than the estimate's error; docs/budgets.md has both.
#pragma once

#include <cstdint>

#include "compiler/steps/step.h"

namespace etch {

struct FlashEstimate {
  std::int64_t constants = 0;
  std::int64_t code = 0;
  std::int64_t total() const { return constants + code; }
};

// Of a program with planned memory; of one with variants, all of them.
FlashEstimate estimated_flash(const Program& program);

// Bytes of one step's function and of the tile functions inlined into it.
std::int64_t estimated_code_bytes(const Program& program, const Step& step);

}  // namespace etch
