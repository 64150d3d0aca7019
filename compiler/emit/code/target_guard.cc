// What stops a build with flags for another CPU than the target's; see parts.h. Vocabularies with
// intrinsics stop it themselves. The portable vocabulary, and the functions in place of assembly,
// would be compiled without a word and take many times as long.
#include <set>
#include <string>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/targets/targets.h"
#include "compiler/text/writer.h"

namespace etch {

namespace {

// Of a compiler for such a CPU.
std::string usual_flags(const IsaTraits& isa) {
  const Machine* const machine = machine_of(isa.name);
  std::string out(machine == nullptr ? "" : machine->flags);
  for (const std::string& flag : target_flags(isa.name)) out += cat(out.empty() ? "" : " ", flag);
  return out;
}

void write_check(Writer& writer, std::string_view macro) {
  writer.line(cat("#if !defined(", macro, ")"));
  writer.line(
      cat("#error \"etch: no ", macro, ": use the CPU's flags, or -DETCH_ALLOW_PORTABLE\""));
  writer.line("#endif");
}

// Where one of these is false, functions in assembly are replaced by portable ones.
std::set<std::string> conditions_of_assembly(const Program& program) {
  std::set<std::string> out;
  for (const auto& step : program.steps) {
    for (const AssemblyFunction& function : step->assembly) out.insert(function.condition);
  }
  return out;
}

}  // namespace

std::string target_guard(const Program& program) {
  const IsaTraits& isa = program.isa;
  const bool asks_floats = program.needs_floats && !isa.float_macro.empty();
  const std::set<std::string> conditions = conditions_of_assembly(program);
  if (isa.core_macro.empty() && !asks_floats && conditions.empty()) return "";
  Writer writer;
  writer.line(
      cat("// For ", isa.title, ". Elsewhere the same results would take many times as long;"));
  writer.line("// where that is wanted, define ETCH_ALLOW_PORTABLE.");
  const std::string flags = usual_flags(isa);
  if (!flags.empty()) writer.line(cat("// Flags of such a CPU: ", flags));
  writer.line("#if !defined(ETCH_ALLOW_PORTABLE)");
  if (!isa.core_macro.empty()) write_check(writer, isa.core_macro);
  if (asks_floats) write_check(writer, isa.float_macro);
  for (const std::string& condition : conditions) {
    writer.line(cat("#if !(", condition, ")"));
    writer.line("#error \"etch: no assembly here: use the CPU's flags, or -DETCH_ALLOW_PORTABLE\"");
    writer.line("#endif");
  }
  writer.line("#endif");
  writer.line();
  return writer.text();
}

}  // namespace etch
