// See shared_bodies.h. A body is what the Recorder prints for one of the steps under the body's
// name: the names of constants begin with it too, and become parameters.
#include "compiler/emit/code/shared_bodies.h"

#include <utility>
#include <vector>

#include "compiler/base/sha256.h"
#include "compiler/base/text.h"
#include "compiler/program/sized_step.h"
#include "compiler/stage/recording.h"
#include "compiler/text/names.h"

namespace etch {
namespace {

// Shorter functions would gain nothing.
constexpr int kLeastStatements = 24, kLeastForSize = 6;

// Restricted, so that stores to a tensor do not keep compilers from moving loads of constants: as
// with arrays, of which they know that nobody writes them.
std::string constant_parameters(const Step& step, const std::string& body) {
  std::string out;
  for (const ConstantArray& constant : step.constants) {
    out += cat(out.empty() ? "" : ", ", pointer_type(constant.element, true), " __restrict ", body,
               "_", constant.suffix);
  }
  return out;
}

// By what it computes, so that other layers of the network have no part in it:
// "depthwise_1x64x25x5_body".
std::string name_of_body(const Step& step) {
  std::string out = step.kind;
  for (std::size_t i = 0; i < step.output_shape.size(); ++i)
    out += cat(i == 0 ? "_" : "x", step.output_shape[i]);
  return out + "_body";
}

// What the step prints under another name, without what is said about it alone.
Recording recorded_under(Step& step, const IsaTraits& isa, const std::string& name,
                         const std::string& parameters = {}) {
  const std::string own = std::exchange(step.name, name);
  const std::string summary = std::exchange(step.summary, "for several layers");
  const std::vector<std::string> facts = std::exchange(step.facts, {});
  std::vector<std::string> owners;
  for (ConstantArray& constant : step.constants)
    owners.push_back(std::exchange(constant.owner, ""));
  Recording out = record(step, isa, parameters);
  for (std::size_t i = 0; i < owners.size(); ++i) step.constants[i].owner = owners[i];
  step.facts = facts;
  step.summary = summary;
  step.name = own;
  return out;
}

std::string kinds_of_constants(const Step& step) {
  std::string out;
  for (const ConstantArray& constant : step.constants)
    out += cat(constant.suffix, " ", pointer_type(constant.element, true), "; ");
  return out;
}

}  // namespace

std::string name_by_content(const std::string& name, const std::string& text) {
  constexpr std::size_t kDigits = 8;
  return cat(name, "_", sha256_hex(text).substr(0, kDigits));
}

std::map<std::string, std::string> shared_bodies(const Program& program) {
  std::map<std::string, std::string> out;
  std::map<std::string, std::vector<const Step*>> alike;
  const bool for_size = program.isa.objective == Objective::kSize;
  const int least = for_size ? kLeastForSize : kLeastStatements;
  for (const auto& step : program.steps) {
    if (step->shares_code()) continue;
    const Recording recorded = recorded_under(*step, program.isa, "step");
    if (recorded.statements < least) continue;
    alike[kinds_of_constants(*step) + text_of_functions(recorded.functions)].push_back(&*step);
  }
  std::erase_if(alike, [](const auto& entry) { return entry.second.size() < 2; });
  std::map<std::string, int> wishes;
  for (const auto& [text, steps] : alike) ++wishes[name_of_body(*steps.front())];
  for (const auto& [text, steps] : alike) {
    const std::string wish = name_of_body(*steps.front());
    const std::string name = wishes[wish] == 1 ? wish : name_by_content(wish, text);
    for (const Step* const step : steps) out[step->name] = name;
  }
  return out;
}

std::vector<RecordedFunction> body_definition(Step& step, const IsaTraits& isa,
                                              const std::string& body) {
  return recorded_under(step, isa, body, constant_parameters(step, body)).functions;
}

std::string body_declaration(const Step& step, const std::string& body) {
  return cat("[[gnu::noinline]] void ", body, "(",
             declared_parameters(step, constant_parameters(step, body)), ") noexcept;");
}

std::string handing_over(const Step& step, const std::string& body) {
  std::string arguments;
  const auto add = [&](const std::string& name) {
    arguments += cat(arguments.empty() ? "" : ", ", name);
  };
  for (const Operand& operand : step.operands) add(operand.name);
  if (step.partition.shares > 1) add("share");
  for (const ConstantArray& constant : step.constants)
    add(cat(constant.owner.empty() ? step.name : constant.owner, "_", constant.suffix));
  if (const SizedStep* const of_size = step.sized(); of_size != nullptr && of_size->needs_size())
    add("size");
  std::string out = cat("// ", comment_text(step.summary), "\n");
  for (const std::string& fact : step.facts) out += cat("// ", comment_text(fact), "\n");
  return cat(out, "void ", step.name, "(", declared_parameters(step), ") noexcept {\n  ", body, "(",
             arguments, ");\n}\n");
}

}  // namespace etch
