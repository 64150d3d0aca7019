// How the tensors of steps are laid out in memory: what lowering knows and a Program does not keep,
// because only `etch prove`, which calls single steps, needs it.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/program/step.h"
#include "compiler/program/view.h"

namespace etch {

// The views of the operands of every step that lowering has added while the log observed
// (compiler/base/observation.h), in the order of the operands.
class OperandViewLog {
 public:
  // A new step may be where one was that the schedule has dropped.
  void forget(const Step& step) { views_.erase(&step); }
  void add(const Step& step, const std::vector<std::pair<const char*, const View*>>& operands);
  // Null for a step that was made otherwise.
  const std::vector<View>* find(const Step& step) const;

 private:
  std::map<const Step*, std::vector<View>> views_;
};

}  // namespace etch
