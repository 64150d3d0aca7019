// One network for several instruction sets: what NAME.h and NAME.cc say besides the variants'
// own files; see parts.h. The variant is an argument of run(), so that nothing has to be
// remembered between calls: docs/decisions/0009.
#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/program/state.h"
#include "compiler/targets/multi.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"

namespace etch {
namespace {

// "avx512_vnni" as an enumerator: "kAvx512Vnni".
std::string enumerator(const IsaTraits& isa) {
  std::string out = "k";
  bool capital = true;
  for (const char c : isa.name) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool separates = c == '_' || c == '-';
    if (!separates) out.push_back(capital && lower ? static_cast<char>(c - 'a' + 'A') : c);
    capital = separates;
  }
  return out;
}

// Numbers grow with the instruction sets: 0 runs on any CPU.
std::size_t number_of(const Program& program, const Program& variant) {
  return program.variants.size() - 1 - static_cast<std::size_t>(&variant - &program.variants[0]);
}

void write_choice(Writer& writer, const Program& program) {
  writer.scope("Isa best_isa() noexcept", [&] {
    writer.line("const ::etch::rt::Cpu cpu = ::etch::rt::read_cpu();");
    for (const Program& variant : program.variants) {
      const std::string value = cat("Isa::", enumerator(variant.isa));
      const bool last = &variant == &program.variants.back();
      const std::string condition =
          last ? "" : cat("if (::etch::rt::has_", folder_of_target(variant.isa.name), "(cpu)) ");
      writer.line(cat(condition, "return ", value, ";"));
    }
  });
  writer.line();
}

void write_run(Writer& writer, const EmitContext& context) {
  const Program& program = context.program;
  writer.scope(cat("void run(Isa isa, ", run_parameters(program), ") noexcept"), [&] {
    writer.scope("switch (isa)", [&] {
      for (const Program& variant : program.variants) {
        writer.line(cat("case Isa::", enumerator(variant.isa), ":"));
        // Each has a State of its own, of the same bytes, which C knows as memory.
        const char* const function = state_of(program).empty() ? "::run(" : "_run(";
        writer.line(cat("  return ", variant_name(context.options.name, variant.isa), function,
                        run_arguments(program, "&state, "), ");"));
      }
    });
    writer.line("__builtin_trap();  // no value of Isa");
  });
  writer.line();
}

// Where there are initial values, that of the variant that any CPU runs, which has them.
void write_reset_of_variants(Writer& writer, const EmitContext& context) {
  const Program& program = context.program;
  if (std::ranges::none_of(program.inputs,
                           [](const Port& each) { return each.initial != nullptr; })) {
    write_reset(writer, context);
    return;
  }
  writer.scope("void reset(State& state) noexcept", [&] {
    const IsaTraits& isa = program.variants.back().isa;
    writer.line(cat(variant_name(context.options.name, isa), "_reset(&state);"));
  });
  writer.line();
}

}  // namespace

std::string variant_name(const std::string& name, const IsaTraits& isa) {
  return cat(name, "_", folder_of_target(isa.name));
}

std::string isa_parameter(const Program& program, const std::string& type) {
  return program.variants.empty() ? "" : cat(type, " isa, ");
}

void write_isa_declarations(Writer& writer, const EmitContext& context) {
  const Program& program = context.program;
  if (program.variants.empty()) return;
  writer.line("// The instruction sets that there is code for. All give the same bits.");
  writer.open("enum class Isa : int");
  for (std::size_t i = program.variants.size(); i-- > 0;) {
    const Program& variant = program.variants[i];
    writer.line(cat(enumerator(variant.isa), " = ", number_of(program, variant), ",  // ",
                    variant.isa.title));
  }
  writer.close("};");
  const std::string_view asks = multi_target(program.isa.name)->asks;
  const std::size_t end = asks.find('\n');
  writer.line(
      cat("// The best that this CPU and its operating system have. ", asks.substr(0, end)));
  writer.line(cat("// ", asks.substr(end + 1)));
  writer.line(cat(macro_stem(context.options.name), "_EXPORT Isa best_isa() noexcept;"));
  writer.line();
  writer.line(
      "// `isa` is what best_isa() said, or less; more than that is an illegal instruction.");
}

void write_isa_macros(Writer& writer, const EmitContext& context) {
  const Program& program = context.program;
  if (program.variants.empty()) return;
  const std::string stem = macro_stem(context.options.name);
  for (std::size_t i = program.variants.size(); i-- > 0;) {
    const Program& variant = program.variants[i];
    writer.line(cat("#define ", stem, "_ISA_", macro_stem(folder_of_target(variant.isa.name)), " ",
                    number_of(program, variant)));
  }
  const std::string signature = cat("int ", context.options.name, "_best_isa(void)");
  writer.line("#ifdef __cplusplus");
  writer.line(cat("extern \"C\" ", stem, "_EXPORT ", signature, " noexcept;"));
  writer.line("#else");
  writer.line(cat(stem, "_EXPORT ", signature, ";"));
  writer.line("#endif");
  writer.line();
}

std::string variants_definition(const EmitContext& context) {
  const Program& program = context.program;
  const std::string& name = context.options.name;
  Writer writer;
  writer.line(cat("namespace ", name, " {"));
  writer.line();
  write_choice(writer, program);
  write_reset_of_variants(writer, context);
  write_run(writer, context);
  writer.line(cat("}  // namespace ", name));
  writer.line();
  writer.scope(cat("extern \"C\" int ", name, "_best_isa(void) noexcept"),
               [&] { writer.line(cat("return static_cast<int>(", name, "::best_isa());")); });
  writer.line();
  write_c_reset(writer, context);
  writer.scope(cat("extern \"C\" void ", name, "_run(int isa, ",
                   run_parameters(program, c_state_parameter(program)), ") noexcept"),
               [&] {
                 write_state_check(writer, context);
                 writer.line(cat(name, "::run(static_cast<", name, "::Isa>(isa), ",
                                 run_arguments(program, c_state_argument(context)), ");"));
               });
  return writer.text();
}

}  // namespace etch
