// The constant arrays that a generated network defines, whatever form they are written in.
#pragma once

#include <string>

#include "compiler/base/text.h"
#include "compiler/program/state.h"
#include "compiler/program/step.h"

namespace etch {

// Calls visit(name, array) for each, in the order of the files: those of the steps that no earlier
// step has, then what reset() copies. Of a program with variants, each has its own.
template <class Visit>
void for_each_array(const Program& program, Visit visit) {
  for (const auto& step : program.steps) {
    if (step->shares_code()) continue;
    for (const ConstantArray& constant : step->constants) {
      if (constant.owner.empty()) visit(cat(step->name, "_", constant.suffix), constant);
    }
  }
  if (!program.variants.empty()) return;
  for (const StatePort& port : state_of(program).ports) {
    const Port& input = program.inputs[static_cast<std::size_t>(port.input)];
    if (input.initial != nullptr) visit(initial_name(input), initial_array(input));
  }
}

}  // namespace etch
