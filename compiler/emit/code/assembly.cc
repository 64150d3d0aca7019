// The functions in assembly that steps call, with what replaces them elsewhere; see parts.h.
//
// A naked function has no prologue of the compiler's, so its body may use every register, at every
// optimisation level. gcc's noipa keeps it from concluding, from a body that it cannot read, which
// registers survive a call.
#include <map>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/text/writer.h"

namespace etch {

std::string AssemblyFunction::parameters() const {
  std::string out;
  for (std::size_t i = 0; i < types.size(); ++i)
    out += cat(i == 0 ? "" : ", ", types[i], " ", names[i]);
  return out;
}

namespace {

std::vector<const AssemblyFunction*> functions_of(const Program& program) {
  std::vector<const AssemblyFunction*> out;
  std::map<std::string, const AssemblyFunction*> known;
  for (const auto& step : program.steps) {
    for (const AssemblyFunction& function : step->assembly) {
      const auto [it, is_new] = known.emplace(function.name, &function);
      if (is_new) out.push_back(&function);
      ETCH_CHECK(*it->second == function && "functions in assembly of one name are equal");
    }
  }
  return out;
}

void write_function(Writer& writer, const AssemblyFunction& function) {
  writer.line();
  writer.line(cat("// ", function.summary));
  writer.line(cat("#if ", function.condition));
  std::string types;
  for (const std::string& type : function.types) types += cat(types.empty() ? "" : ", ", type);
  writer.scope(cat("ETCH_NAKED void ", function.name, "(", types, ") noexcept"), [&] {
    writer.line("__asm__(");
    for (std::size_t i = 0; i < function.lines.size(); ++i) {
      if (AssemblyFunction::is_comment(function.lines[i])) {
        writer.line(cat("    ", function.lines[i]));
        continue;
      }
      writer.line(
          cat("    \"", function.lines[i], "\\n\"", i + 1 == function.lines.size() ? ");" : ""));
    }
  });
  writer.line("#else");
  writer.scope(cat("void ", function.name, "(", function.parameters(), ") noexcept"),
               [&] { writer.line(function.fallback); });
  writer.line("#endif");
}

}  // namespace

std::string assembly_declarations(const Program& program) {
  Writer writer;
  for (const AssemblyFunction* function : functions_of(program))
    writer.line(cat("void ", function->name, "(", function->parameters(), ") noexcept;"));
  return writer.text();
}

Code assembly_definitions(const Program& program) {
  const std::vector<const AssemblyFunction*> functions = functions_of(program);
  if (functions.empty()) return {};
  Code out;
  Writer writer;
  writer.line("#if defined(__clang__)");
  writer.line("#define ETCH_NAKED [[gnu::naked, gnu::noinline]]");
  writer.line("#elif defined(__GNUC__)");
  writer.line("#define ETCH_NAKED [[gnu::naked, gnu::noipa]]");
  writer.line("#endif");
  for (const AssemblyFunction* function : functions) {
    write_function(writer, *function);
    out.spaces.runtime |= function->calls_runtime;
  }
  writer.line();
  writer.line("#undef ETCH_NAKED");
  out.text = writer.text();
  return out;
}

}  // namespace etch
