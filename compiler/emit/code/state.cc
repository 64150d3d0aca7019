// What the generated code says of its state: the declarations, reset(), where run() finds the ports
// that are kept in it, and the copy that ends run(); see parts.h and compiler/program/state.h.
#include "compiler/program/state.h"

#include <string>
#include <vector>

#include "compiler/base/text.h"
#include "compiler/emit/code/parts.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"

namespace etch {
namespace {

const Port& input_of(const Program& program, const StatePort& port) {
  return program.inputs[static_cast<std::size_t>(port.input)];
}
const Port& output_of(const Program& program, const StatePort& port) {
  return program.outputs[static_cast<std::size_t>(port.output)];
}

// "next0 to state0: float32 [1, 8], "h_out" to "h" in the model"
std::string described(const Program& program, const StatePort& port) {
  const Port& input = input_of(program, port);
  const Port& output = output_of(program, port);
  const std::string_view from = shown_name(output.name);
  const std::string_view to = shown_name(input.name);
  const bool shown = !from.empty() && !to.empty();
  return cat(output.identifier, " to ", input.identifier, ": ", name_of(input.dtype), " ",
             to_string(input.shape), ", at byte ", port.offset,
             shown ? cat(", \"", from, "\" to \"", to, "\" in the model") : std::string());
}

// "all of it to zeros", or "all of it to zeros but state0 and state2 to their initial values"
std::string what_reset_sets(const Program& program) {
  std::vector<std::string> names;
  for (const StatePort& port : state_of(program).ports) {
    const Port& input = input_of(program, port);
    if (input.initial != nullptr) names.push_back(input.identifier);
  }
  if (names.empty()) return "all of it to zeros";
  std::string list = names[0];
  for (std::size_t i = 1; i < names.size(); ++i)
    list += cat(i + 1 == names.size() ? " and " : ", ", names[i]);
  return cat("all of it to zeros, but ", list, " to ",
             names.size() == 1 ? "its initial value" : "their initial values");
}

}  // namespace

void write_state_declarations(Writer& writer, const EmitContext& context) {
  const StateLayout state = state_of(context.program);
  if (state.empty()) return;
  writer.line(
      "// What one inference leaves to the next. The first half is that; the second is where");
  writer.line(
      "// run() writes it, before it copies it over the first. Any copy of a State is a State");
  writer.line("// of the same stream at that time.");
  for (const StatePort& port : state.ports) {
    writer.line(cat("// ", described(context.program, port)));
  }
  writer.line(cat("inline constexpr size_t kStateBytes = ", state.bytes(), ";"));
  writer.line(cat("inline constexpr size_t kStateAlignment = ", kStateAlignment, ";"));
  writer.open("struct alignas(kStateAlignment) State");
  writer.line("unsigned char bytes[kStateBytes];");
  writer.close("};");
  writer.line(cat("// Sets ", what_reset_sets(context.program),
                  ": needed once before the first inference of a stream."));
  writer.line(cat(exported(context), "void reset(State& state) noexcept;"));
  writer.line();
}

void write_state_macros(Writer& writer, const EmitContext& context) {
  const StateLayout state = state_of(context.program);
  if (state.empty()) return;
  const std::string stem = macro_stem(context.options.name);
  writer.line(cat("#define ", stem, "_STATE_BYTES ", state.bytes()));
  writer.line(cat("#define ", stem, "_STATE_ALIGNMENT ", kStateAlignment));
}

std::string c_state_parameter(const Program& program) {
  return state_of(program).empty() ? "" : "void* state, ";
}

std::string c_state_argument(const EmitContext& context) {
  return cat("*static_cast<", context.options.name, "::State*>(state), ");
}

// C cannot say by a type how the memory is aligned.
void write_state_check(Writer& writer, const EmitContext& context) {
  if (state_of(context.program).empty()) return;
  writer.line(cat("if (reinterpret_cast<uintptr_t>(state) % ", context.options.name,
                  "::kStateAlignment != 0) __builtin_trap();"));
}

void write_state_pointers(Writer& writer, const Program& program) {
  const StateLayout state = state_of(program);
  const auto pointer = [&](const Port& port, bool is_const, std::int64_t offset) {
    const std::string type = pointer_type(port.dtype, is_const);
    writer.line(cat(type, " const ", port.identifier, " = at<", c_type(port.dtype),
                    ">(state.bytes, ", offset, ");"));
  };
  for (const StatePort& port : state.ports) {
    pointer(input_of(program, port), true, port.offset);
    pointer(output_of(program, port), false, state.half + port.offset);
  }
}

void write_state_step(Writer& writer, const Program& program) {
  const StateLayout state = state_of(program);
  if (state.empty()) return;
  writer.line();
  writer.line("// The next inference reads what this one has written.");
  writer.line(
      cat("memcpy(state.bytes, at<uint8_t>(state.bytes, ", state.half, "), ", state.half, ");"));
}

void write_reset(Writer& writer, const EmitContext& context) {
  if (state_of(context.program).empty()) return;
  writer.scope("void reset(State& state) noexcept", [&] {
    writer.line("memset(state.bytes, 0, kStateBytes);");
    for (const StatePort& port : state_of(context.program).ports) {
      const Port& input = input_of(context.program, port);
      if (input.initial == nullptr) continue;
      writer.line(cat("memcpy(state.bytes + ", port.offset, ", steps::", initial_name(input), ", ",
                      port.bytes, ");"));
    }
  });
  writer.line();
}

void write_c_reset(Writer& writer, const EmitContext& context) {
  if (state_of(context.program).empty()) return;
  const std::string& name = context.options.name;
  writer.scope(cat("extern \"C\" void ", name, "_reset(void* state) noexcept"), [&] {
    write_state_check(writer, context);
    writer.line(cat(name, "::reset(*static_cast<", name, "::State*>(state));"));
  });
  writer.line();
}

}  // namespace etch
