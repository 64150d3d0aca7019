// See sized_step.h.
#include "compiler/program/sized_step.h"

#include <algorithm>
#include <utility>

namespace etch {

Shape SizeBound::shape(const std::vector<SizeFormula>& dimensions, std::int64_t size) {
  Shape out;
  for (const SizeFormula& each : dimensions) out.push_back(each.at(size));
  return out;
}

SizedStep::SizedStep(std::unique_ptr<Step> code) : Step(*code), code_(std::move(code)) {
  code_->constants.clear();  // the kernel has its plan, and asks this step for them
}

bool SizedStep::needs_size() const {
  return !std::ranges::all_of(numbers, &SizeFormula::is_constant);
}

const SizeBound* bound_of(const Program& program) {
  if (program.steps.empty()) return nullptr;
  const SizedStep* const first = program.steps.front()->sized();
  return first == nullptr ? nullptr : first->bound.get();
}

bool runs_at_greatest(const Step& step) {
  const SizedStep* const of_size = step.sized();
  return of_size == nullptr || of_size->sizes.back() == of_size->bound->range.most;
}

std::int64_t steps_at_greatest(const Program& program) {
  return std::ranges::count_if(program.steps,
                               [](const auto& step) { return runs_at_greatest(*step); });
}

namespace {
using ShapeAt = Shape (SizeBound::*)(std::size_t, std::int64_t) const;

std::vector<Port> ports_at(const Program& program, std::vector<Port> ports, ShapeAt shape,
                           std::int64_t size) {
  const SizeBound* const bound = bound_of(program);
  for (std::size_t i = 0; bound != nullptr && i < ports.size(); ++i)
    ports[i].shape = (bound->*shape)(i, size);
  return ports;
}
}  // namespace

std::vector<Port> inputs_at(const Program& program, std::int64_t size) {
  return ports_at(program, program.inputs, &SizeBound::input_shape, size);
}

std::vector<Port> outputs_at(const Program& program, std::int64_t size) {
  return ports_at(program, program.outputs, &SizeBound::output_shape, size);
}

}  // namespace etch
