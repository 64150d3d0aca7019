// Compares what the Recorder prints; see share_code.h.
#include "compiler/schedule/share_code.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/stage/recording.h"

namespace etch {

namespace {

// The step's function as it would be under a name that all steps share.
std::string nameless_code(Step& step, const IsaTraits& isa) {
  const std::string name = std::exchange(step.name, "step");
  std::string text = text_of_functions(record(step, isa).functions);
  step.name = name;
  return text;
}

bool same_array(const ConstantArray& x, const ConstantArray& y) {
  return x.suffix == y.suffix && x.element == y.element && x.bytes == y.bytes;
}

bool same_constants(const Step& a, const Step& b) {
  if (a.constants.size() != b.constants.size()) return false;
  for (std::size_t i = 0; i < a.constants.size(); ++i) {
    if (!same_array(a.constants[i], b.constants[i])) return false;
  }
  return true;
}

// The array of an earlier step with a function of its own that is the same as `constant`.
std::string owner_of(const ConstantArray& constant, const std::vector<Step*>& steps,
                     const Step* before) {
  for (const Step* const step : steps) {
    if (step == before) break;
    if (step->shares_code()) continue;
    for (const ConstantArray& other : step->constants) {
      if (other.owner.empty() && same_array(other, constant)) return step->name;
    }
  }
  return {};
}

}  // namespace

void share_code(Program& program) {
  std::map<std::pair<int, std::string>, std::vector<Step*>> alike;  // by node and kind
  for (const auto& step : program.steps) alike[{step->node, step->kind}].push_back(step.get());
  for (auto& [key, steps] : alike) {
    if (steps.size() < 2) continue;
    std::map<std::string, Step*> known;
    for (Step* const step : steps) {
      const auto [first, inserted] = known.emplace(nameless_code(*step, program.isa), step);
      if (!inserted && same_constants(*first->second, *step)) step->function = first->second->name;
    }
    for (Step* const step : steps) {
      if (step->shares_code()) continue;
      for (ConstantArray& constant : step->constants)
        constant.owner = owner_of(constant, steps, step);
    }
  }
}

}  // namespace etch
