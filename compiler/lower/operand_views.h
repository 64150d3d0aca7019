// How the tensors of steps are laid out in memory: what lowering knows and a Program does not keep,
// because only `etch prove`, which calls single steps, needs it.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/program/step.h"
#include "compiler/program/view.h"

namespace etch {

// While one exists, the views of the operands of every step that lowering adds in this thread are
// kept in it, in the order of the operands.
class OperandViewLog {
 public:
  OperandViewLog();
  ~OperandViewLog();
  OperandViewLog(const OperandViewLog&) = delete;
  OperandViewLog& operator=(const OperandViewLog&) = delete;

  // Null for a step that was made otherwise.
  const std::vector<View>* of(const Step& step) const;

  // For lowering.
  static void note(const Step& step,
                   const std::vector<std::pair<const char*, const View*>>& operands);

 private:
  std::map<const Step*, std::vector<View>> views_;
  OperandViewLog* const outer_;
};

}  // namespace etch
