// Compares what the Recorder prints; see share_code.h.
#include "compiler/schedule/share_code.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/stage/recorder.h"

namespace etch {

namespace {

// The step's function as it would be under a name that all steps share.
std::string nameless_code(Step& step, const IsaTraits& isa) {
  const std::string name = std::exchange(step.name, "step");
  Recorder recorder(step);
  recorder.set_isa(isa);
  step.run(recorder);
  std::string text = recorder.text();
  step.name = name;
  return text;
}

bool same_constants(const Step& a, const Step& b) {
  if (a.constants.size() != b.constants.size()) return false;
  for (std::size_t i = 0; i < a.constants.size(); ++i) {
    const ConstantArray &x = a.constants[i], &y = b.constants[i];
    if (x.suffix != y.suffix || x.element != y.element || x.alignment != y.alignment ||
        x.bytes != y.bytes)
      return false;
  }
  return true;
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
  }
}

}  // namespace etch
