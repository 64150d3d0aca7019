// See operand_views.h.
#include "compiler/lower/operand_views.h"

namespace etch {

void OperandViewLog::add(const Step& step,
                         const std::vector<std::pair<const char*, const View*>>& operands) {
  std::vector<View>& views = views_[&step];
  views.clear();
  for (const auto& [name, view] : operands) views.push_back(*view);
}

const std::vector<View>* OperandViewLog::find(const Step& step) const {
  const auto found = views_.find(&step);
  return found == views_.end() ? nullptr : &found->second;
}

}  // namespace etch
