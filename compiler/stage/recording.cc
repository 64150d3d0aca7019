// See recording.h.
#include "compiler/stage/recording.h"

#include <cctype>
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

// Names say what their function does for one size: two sizes may call the same function otherwise.
void number_functions(std::vector<RecordedFunction>& functions) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t i = 0; i + 1 < functions.size(); ++i) {
    const std::string name = functions[i].name, number = cat("function_", i);
    for (RecordedFunction& function : functions) {
      std::string& text = function.text;
      for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
        const std::size_t end = at + name.size();
        const bool whole =
            (at == 0 || !is_word(text[at - 1]) || is_in_mark(text, at)) && !is_word(text[end]);
        if (whole) text.replace(at, name.size(), number);
        at += whole ? number.size() : name.size();
      }
    }
  }
}

}  // namespace

Recording record(const Step& step, const IsaTraits& isa, const std::string& parameters) {
  const SizedStep* const of_size = step.sized();
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

std::string nameless_code(Step& step, const IsaTraits& isa) {
  const std::string name = std::exchange(step.name, "step");
  std::string text = text_of_functions(record(step, isa).functions);
  step.name = name;
  return text;
}

std::string marked_text(Step& step, const IsaTraits& isa) {
  const std::string name = std::exchange(step.name, "step");
  const std::string summary = std::exchange(step.summary, "");
  const std::vector<std::string> facts = std::exchange(step.facts, {});
  SizeMarks marks;
  const Observation<SizeMarks> marking(marks);
  std::vector<RecordedFunction> functions = run(step, isa, {}).functions;
  number_functions(functions);
  std::string text = text_of_functions(functions);
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
  const SizedStep* const of_size = step.sized();
  if (of_size != nullptr && of_size->needs_size()) add("int size");
  return out;
}

}  // namespace etch
