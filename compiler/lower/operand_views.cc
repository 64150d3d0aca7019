// See operand_views.h.
#include "compiler/lower/operand_views.h"

namespace etch {

namespace {
thread_local OperandViewLog* current = nullptr;
}  // namespace

OperandViewLog::OperandViewLog() : outer_(current) { current = this; }

OperandViewLog::~OperandViewLog() { current = outer_; }

const std::vector<View>* OperandViewLog::of(const Step& step) const {
  const auto found = views_.find(&step);
  return found == views_.end() ? nullptr : &found->second;
}

void OperandViewLog::note(const Step& step,
                          const std::vector<std::pair<const char*, const View*>>& operands) {
  if (current == nullptr) return;
  std::vector<View>& views = current->views_[&step];
  views.clear();
  for (const auto& [name, view] : operands) views.push_back(*view);
}

}  // namespace etch
