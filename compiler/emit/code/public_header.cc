// NAME.h: what users of a generated network see, in C++ and in C; see parts.h.
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/program/arena.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"

namespace etch {
namespace {

// "input0" as part of a constant's name: "Input0".
std::string camel(const Port& port) {
  std::string out = port.identifier;
  ETCH_CHECK(!out.empty() && out[0] >= 'a' && out[0] <= 'z');
  out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::string shape_list(const Shape& shape) {
  std::string out;
  for (const std::int64_t size : shape) out += cat(out.empty() ? "" : ", ", size);
  return out;
}

void write_port(Writer& writer, const Port& port) {
  const std::string name = camel(port);
  const std::int64_t elements = element_count(port.shape);
  const std::string_view shown = shown_name(port.name);
  writer.line(cat("// ", port.identifier, ": ", name_of(port.dtype), " ", to_string(port.shape),
                  ", row-major."));
  writer.line(cat("inline constexpr char k", name, "Name[] = \"", shown, "\";  // in the model"));
  writer.line(cat("using ", name, " = ", c_type(port.dtype), ";"));
  if (port.shape.empty()) {
    writer.line(cat("// A scalar: k", name, "Shape has no entries that mean anything."));
  }
  writer.line(cat("inline constexpr int k", name, "Rank = ", port.shape.size(), ";"));
  writer.line(cat("inline constexpr int64_t k", name, "Shape[] = {",
                  port.shape.empty() ? "1" : shape_list(port.shape), "};"));
  writer.line(cat("inline constexpr size_t k", name, "Elements = ", elements, ";"));
  writer.line(
      cat("inline constexpr size_t k", name, "Bytes = ", elements * bytes_of(port.dtype), ";"));
  writer.line(cat("inline constexpr char k", name, "DType[] = \"", name_of(port.dtype), "\";"));
  if (port.quantized) {
    writer.line(cat("// real value = scale * (stored value - zero point)"));
    writer.line(cat("inline constexpr float k", name, "Scale = ", hex_float(port.scale), ";  // ",
                    decimal(port.scale)));
    writer.line(cat("inline constexpr int k", name, "ZeroPoint = ", port.zero_point, ";"));
  }
  writer.line();
}

void write_facts(Writer& writer, const EmitContext& context) {
  const Program& program = context.program;
  writer.line(
      "// The memory that run() works in. It may be used for other things between two calls.");
  writer.line(cat("inline constexpr size_t kArenaBytes = ", program.arena_bytes, ";"));
  writer.line(cat("inline constexpr size_t kArenaAlignment = ", arena_alignment(program), ";"));
  writer.line(program.variants.empty()
                  ? "// Weights and tables; the code comes on top."
                  : "// Weights and tables of all variants; the code comes on top.");
  writer.line(cat("inline constexpr size_t kFlashBytes = ", constant_bytes(program), ";"));
  writer.line("// Multiply-accumulates of one inference.");
  writer.line(cat("inline constexpr uint64_t kMacs = ", program.macs, ";"));
  writer.line(cat("inline constexpr char kTarget[] = \"", program.isa.name, "\";"));
  if (program.shares > 1) {
    writer.line("// Threads that can work on one inference at the same time.");
    writer.line(cat("inline constexpr int kShares = ", program.shares, ";"));
  }
  writer.line("// Of the .onnx file.");
  writer.line("inline constexpr char kModelSha256[] =");
  writer.line(cat("    \"", program.model_sha256, "\";"));
  writer.line("// What makes these files again from that file:");
  writer.line(cat("// ", command_line(context)));
  writer.line(cat("inline constexpr char kEtchVersion[] = \"", ETCH_VERSION, "\";"));
  writer.line("// Grows when the meaning of anything in this header changes.");
  writer.line(cat("inline constexpr int kOutputFormat = ", kOutputFormat, ";"));
  writer.line();
}

}  // namespace

std::string exported(const EmitContext& context) {
  return context.is_variant ? "" : cat(macro_stem(context.options.name), "_EXPORT ");
}

namespace {

void write_export_macro(Writer& writer, const EmitContext& context) {
  if (context.is_variant) return;
  const std::string macro = cat(macro_stem(context.options.name), "_EXPORT");
  writer.line("// On what a shared library of this network exports.");
  writer.line(cat("#if defined(", macro, ")"));
  writer.line("// The user has said what to write there.");
  writer.line("#elif defined(__GNUC__) && !defined(_WIN32) && !defined(__CYGWIN__)");
  writer.line(cat("#define ", macro, " __attribute__((visibility(\"default\")))"));
  writer.line("#else");
  writer.line(cat("#define ", macro));
  writer.line("#endif");
  writer.line();
}

// Where NAME_weights.bin has to be.
void write_weights_place(Writer& writer, const EmitContext& context) {
  if (context.options.weights != WeightsForm::kBinary) return;
  const std::string symbol = weights_symbol(context);
  writer.line(
      cat("// Weights and tables are in ", symbol, ".bin. The linker has to be told where"));
  writer.line(cat("// that will be in memory, as the symbol ", symbol, ": a multiple of"));
  writer.line(cat("// kWeightsAlignment. For example -Wl,--defsym=", symbol, "=0x90000000."));
  writer.line(
      cat("inline constexpr size_t kWeightsBytes = ", weights_image(context.program).size(), ";"));
  writer.line(
      cat("inline constexpr size_t kWeightsAlignment = ", weights_alignment(context.program), ";"));
  writer.line("// Whether the file of this version of the network is there; run() does not ask.");
  writer.line(cat(exported(context), "bool weights_match() noexcept;"));
  writer.line();
}

void write_contract(Writer& writer, const Program& program) {
  const bool has_state = !state_of(program).empty();
  writer.line("// One inference. Pointers need the alignment of their elements, the arena that of");
  writer.line(
      "// kArenaAlignment (a wrong one traps). Inputs, outputs and arena must not overlap; inputs");
  if (has_state) {
    writer.line(
        "// are not changed. Reads and changes `state`, which reset() has set: calls with "
        "separate");
    writer.line("// arenas and states may run at the same time.");
  } else {
    writer.line(
        "// are not changed. Keeps no state: calls with separate arenas may run at the same time.");
  }
  writer.line(
      "// The rounding mode must be to nearest even, as it is unless a program changes it.");
}

void write_c_interface(Writer& writer, const EmitContext& context) {
  const std::string stem = macro_stem(context.options.name);
  const auto macro = [&](const std::string& suffix, std::int64_t value) {
    writer.line(cat("#define ", stem, "_", suffix, " ", value));
  };
  writer.line("// The same for C.");
  macro("ARENA_BYTES", context.program.arena_bytes);
  macro("ARENA_ALIGNMENT", arena_alignment(context.program));
  macro("OUTPUT_FORMAT", kOutputFormat);
  macro("FLASH_BYTES", constant_bytes(context.program));
  if (context.options.weights == WeightsForm::kBinary) {
    macro("WEIGHTS_BYTES", static_cast<std::int64_t>(weights_image(context.program).size()));
    macro("WEIGHTS_ALIGNMENT", weights_alignment(context.program));
  }
  if (context.program.shares > 1) macro("SHARES", context.program.shares);
  write_size_macros(writer, context);
  write_state_macros(writer, context);
  for (const auto* ports : {&context.program.inputs, &context.program.outputs}) {
    for (const Port& port : *ports) {
      if (is_state(port)) continue;
      const std::int64_t elements = element_count(port.shape);
      macro(macro_stem(port.identifier) + "_ELEMENTS", elements);
      macro(macro_stem(port.identifier) + "_BYTES", elements * bytes_of(port.dtype));
      if (!port.quantized) continue;
      writer.line(cat("#define ", stem, "_", macro_stem(port.identifier), "_SCALE ",
                      hex_float(port.scale), " /* ", decimal(port.scale), " */"));
      macro(macro_stem(port.identifier) + "_ZERO_POINT", port.zero_point);
    }
  }
  writer.line();
  const std::string parameters =
      run_parameters(context.program, c_state_parameter(context.program));
  const char* const result = bound_of(context.program) == nullptr ? "void " : "int ";
  std::vector<std::string> signatures = {cat(result, context.options.name, "_run(",
                                             isa_parameter(context.program, "int"), parameters,
                                             ")")};
  if (context.program.shares > 1) {
    signatures.push_back(cat("void ", context.options.name, "_run_on(", parameters,
                             ", const EtchThreads* threads)"));
  }
  if (context.options.weights == WeightsForm::kBinary) {
    signatures.push_back(cat("int ", context.options.name, "_weights_match(void)"));
  }
  if (!state_of(context.program).empty()) {
    signatures.push_back(cat("void ", context.options.name, "_reset(void* state)"));
  }
  write_isa_macros(writer, context);
  writer.line("#ifdef __cplusplus");
  for (const std::string& signature : signatures) {
    writer.line(cat("extern \"C\" ", exported(context), signature, " noexcept;"));
  }
  writer.line("#else");
  for (const std::string& signature : signatures)
    writer.line(cat(exported(context), signature, ";"));
  write_size_c_functions(writer, context);
  writer.line("#endif");
}

}  // namespace

std::string public_header(const EmitContext& context) {
  const std::string& name = context.options.name;
  Writer writer;
  writer.line("#pragma once");
  writer.line();
  writer.line("#include <stddef.h>");
  writer.line("#include <stdint.h>");
  writer.line();
  if (context.program.shares > 1) {
    writer.line(cat("#include \"", kThreadsHeader, "\""));
    writer.line();
  }
  write_export_macro(writer, context);
  writer.line("#ifdef __cplusplus");
  writer.line(cat("namespace ", name, " {"));
  writer.line();
  for (const auto* ports : {&context.program.inputs, &context.program.outputs}) {
    for (const Port& port : *ports) {
      if (!is_state(port)) write_port(writer, port);
    }
  }
  write_facts(writer, context);
  write_size_declarations(writer, context);
  write_state_declarations(writer, context);
  write_weights_place(writer, context);
  write_isa_declarations(writer, context);
  write_contract(writer, context.program);
  write_size_contract(writer, context);
  writer.line(cat(exported(context), bound_of(context.program) == nullptr ? "void" : "bool",
                  " run(", isa_parameter(context.program, "Isa"), run_parameters(context.program),
                  ") noexcept;"));
  if (context.program.shares > 1) {
    writer.line(
        "// The same on the threads of a hook, which gets up to kShares shares at once; null:");
    writer.line("// on this thread.");
    writer.line(cat(exported(context), "void run(", run_parameters(context.program),
                    ", const EtchThreads* threads) noexcept;"));
  }
  writer.line();
  writer.line(cat("}  // namespace ", name));
  writer.line("#endif");
  writer.line();
  write_c_interface(writer, context);
  return file_banner(context, "the network's interface.") + writer.text();
}

}  // namespace etch
