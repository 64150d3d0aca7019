// See recording.h.
#include "compiler/stage/recording.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/observation.h"
#include "compiler/base/text.h"
#include "compiler/program/sized_step.h"
#include "compiler/stage/size_marks.h"

namespace etch {
namespace {

Recording run(const Step& step, const IsaTraits& isa, const std::string& parameters) {
  Recorder recorder(step, parameters);
  recorder.set_isa(isa);
  step.run(recorder);
  return {recorder.functions(), recorder.statements()};
}

}  // namespace

Recording record(const Step& step, const IsaTraits& isa, const std::string& parameters) {
  const SizedStep* const of_size = sized(step);
  if (of_size == nullptr) return run(step, isa, parameters);
  SizeMarks marks;
  const Observation<SizeMarks> marking(marks);
  Recording out = run(step, isa, parameters);
  MarkFiller filler(of_size->numbers);
  for (RecordedFunction& function : out.functions)
    function.text = filler.fill(function.name, function.text);
  ETCH_CHECK(filler.done());
  return out;
}

std::string marked_text(Step& step, const IsaTraits& isa) {
  const std::string name = std::exchange(step.name, "step");
  const std::string summary = std::exchange(step.summary, "");
  const std::vector<std::string> facts = std::exchange(step.facts, {});
  SizeMarks marks;
  const Observation<SizeMarks> marking(marks);
  std::string text = text_of_functions(run(step, isa, {}).functions);
  step.name = name;
  step.summary = summary;
  step.facts = facts;
  return text;
}

std::string declared_parameters(const Step& step, const std::string& more) {
  std::string out = parameters_of(step);
  const auto add = [&](const std::string& parameter) {
    if (!parameter.empty()) out += cat(out.empty() ? "" : ", ", parameter);
  };
  add(more);
  const SizedStep* const of_size = sized(step);
  if (of_size != nullptr && of_size->needs_size()) add("int size");
  return out;
}

}  // namespace etch
