// The static schedule: where tensors lie in the arena, and the order of the steps; see parts.h.
#include <algorithm>

#include "compiler/base/text.h"
#include "compiler/emit/names.h"
#include "compiler/emit/parts.h"
#include "compiler/emit/writer.h"
#include "compiler/schedule/memory.h"
#include "compiler/stage/recorder.h"

namespace etch {
namespace {

constexpr std::string_view kProfileParameters =
    "[[maybe_unused]] const void* const* inputs,\n    [[maybe_unused]] void* const* outputs, "
    "[[maybe_unused]] void* arena";

// Named after what writes it first: "n03_conv_y".
std::string buffer_name(const Program& program, int buffer) {
  for (const auto& step : program.steps) {
    for (const Operand& operand : step->operands) {
      if (operand.buffer == buffer && operand.access != Access::kRead) {
        return cat(step->name, "_", operand.name);
      }
    }
  }
  return cat("buffer", buffer);
}

const Buffer& buffer_of(const Program& program, const Operand& operand) {
  return program.buffers[static_cast<std::size_t>(operand.buffer)];
}

const Port& port_of(const Program& program, const Buffer& buffer) {
  const auto& ports = buffer.home == Home::kInput ? program.inputs : program.outputs;
  return ports[static_cast<std::size_t>(buffer.port)];
}

std::string arena_argument(const Program& program, const Operand& operand) {
  const std::string offset = operand.offset == 0 ? "" : cat(" + ", operand.offset);
  return cat("at<", c_type(operand.element), ">(arena, ", buffer_name(program, operand.buffer),
             offset, ")");
}

// The argument for an operand inside run().
std::string argument_in_run(const Program& program, const Operand& operand) {
  const Buffer& buffer = buffer_of(program, operand);
  if (buffer.home == Home::kArena) return arena_argument(program, operand);
  const Port& port = port_of(program, buffer);
  if (operand.offset == 0 && c_type(port.dtype) == c_type(operand.element)) return port.identifier;
  return cat("at<", c_type(operand.element), ">(", port.identifier, ", ", operand.offset, ")");
}

// The same inside a profile function, where ports come in two arrays.
std::string argument_in_profile(const Program& program, const Operand& operand) {
  const Buffer& buffer = buffer_of(program, operand);
  if (buffer.home == Home::kArena) return arena_argument(program, operand);
  return cat("at<", c_type(operand.element), ">(",
             buffer.home == Home::kInput ? "inputs[" : "outputs[", buffer.port, "], ",
             operand.offset, ")");
}

template <class Argument>
std::string call_of(const Program& program, const Step& step, Argument argument) {
  std::string arguments;
  for (const Operand& operand : step.operands) {
    arguments += cat(arguments.empty() ? "" : ", ", argument(program, operand));
  }
  return cat(step.name, "(", arguments, ");");
}

bool is_used(const Program& program, Home home, int port) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const auto& step) {
    return std::any_of(step->operands.begin(), step->operands.end(), [&](const Operand& operand) {
      const Buffer& buffer = buffer_of(program, operand);
      return buffer.home == home && buffer.port == port;
    });
  });
}

void write_arena_layout(Writer& writer, const Program& program) {
  writer.line("// Where tensors lie in the arena, in bytes from its start.");
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (buffer.home != Home::kArena) continue;
    writer.line(cat("inline constexpr ptrdiff_t ", buffer_name(program, static_cast<int>(i)), " = ",
                    buffer.arena_offset, ";  // ", with_thousands(buffer.bytes), " bytes, steps ",
                    buffer.first_step, " to ", buffer.last_step));
  }
  writer.line();
}

void write_at(Writer& writer) {
  writer.line("// The elements of type T at `bytes` behind `memory`.");
  writer.line("template <class T>");
  writer.scope("inline T* at(void* memory, ptrdiff_t bytes)", [&] {
    writer.line(
        "return static_cast<T*>(static_cast<void*>(static_cast<uint8_t*>(memory) + bytes));");
  });
  writer.line("template <class T>");
  writer.scope("inline const T* at(const void* memory, ptrdiff_t bytes)", [&] {
    writer.line("const void* const place = static_cast<const uint8_t*>(memory) + bytes;");
    writer.line("return static_cast<const T*>(place);");
  });
  writer.line();
}

void write_unused_ports(Writer& writer, const Program& program) {
  const auto mention = [&](const std::vector<Port>& ports, Home home) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (is_used(program, home, static_cast<int>(i))) continue;
      writer.line(cat("static_cast<void>(", ports[i].identifier, ");  // no step needs it"));
    }
  };
  mention(program.inputs, Home::kInput);
  mention(program.outputs, Home::kOutput);
}

std::string port_names(const Program& program) {
  std::string out;
  for (const Port& port : program.inputs) out += port.identifier + ", ";
  for (const Port& port : program.outputs) out += port.identifier + ", ";
  return out + "arena";
}

}  // namespace

std::string step_declarations(const EmitContext& context) {
  Writer writer;
  write_arena_layout(writer, context.program);
  write_at(writer);
  writer.line("// The steps in the order in which run() calls them.");
  for (const auto& step : context.program.steps) {
    writer.line(cat("[[gnu::noinline]] void ", step->name, "(", parameters_of(*step), ");"));
  }
  return writer.text();
}

std::string run_definition(const EmitContext& context) {
  const Program& program = context.program;
  const std::string& name = context.options.name;
  Writer writer;
  writer.line(cat("namespace ", name, " {"));
  writer.line();
  writer.scope(cat("void run(", run_parameters(program), ") noexcept"), [&] {
    if (!program.steps.empty()) {
      writer.line("using namespace steps;");
      writer.line();
    }
    writer.line("// Aligned loads would fault later, or give wrong values on some processors.");
    writer.line("if (reinterpret_cast<uintptr_t>(arena) % kArenaAlignment != 0) __builtin_trap();");
    write_unused_ports(writer, program);
    for (const auto& step : program.steps) {
      writer.line();
      writer.line(cat("// ", comment_text(step->summary)));
      writer.line(call_of(program, *step, argument_in_run));
    }
  });
  writer.line();
  writer.line(cat("}  // namespace ", name));
  writer.line();
  writer.scope(cat("extern \"C\" void ", name, "_run(", run_parameters(program), ") noexcept"),
               [&] { writer.line(cat(name, "::run(", port_names(program), ");")); });
  return writer.text();
}

std::string profile_header(const EmitContext& context) {
  const std::string& name = context.options.name;
  Writer writer;
  writer.line("#pragma once");
  writer.line();
  writer.line(cat("namespace ", name, " {"));
  writer.line("namespace profile {");
  writer.line();
  writer.line(
      "// inputs[i] and outputs[i] point to what run() takes. The steps called in order are "
      "run().");
  writer.open("struct Step");
  writer.line("const char* name;");
  writer.line("void (*run)(const void* const* inputs, void* const* outputs, void* arena);");
  writer.close("};");
  writer.line();
  writer.line(cat("inline constexpr int kStepCount = ", context.program.steps.size(), ";"));
  writer.line(cat("extern const Step kSteps[",
                  std::max<std::size_t>(1, context.program.steps.size()), "];"));
  writer.line();
  writer.line("}  // namespace profile");
  writer.line(cat("}  // namespace ", name));
  return file_banner(context, "the steps one by one, to measure them.") + writer.text();
}

std::string profile_definition(const EmitContext& context) {
  const Program& program = context.program;
  const std::string& name = context.options.name;
  Writer writer;
  writer.line(cat("namespace ", name, " {"));
  writer.line("namespace profile {");
  writer.line("namespace {");
  writer.line();
  if (!program.steps.empty()) writer.line("using steps::at;");
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].home != Home::kArena) continue;
    writer.line(cat("using steps::", buffer_name(program, static_cast<int>(i)), ";"));
  }
  writer.line();
  for (const auto& step : program.steps) {
    writer.scope(cat("void run_", step->name, "(", kProfileParameters, ")"), [&] {
      writer.line(cat("steps::", call_of(program, *step, argument_in_profile)));
    });
    writer.line();
  }
  writer.line("}  // namespace");
  writer.line();
  writer.line("const Step kSteps[] = {");
  for (const auto& step : program.steps) {
    writer.line(cat("    {\"", step->name, "\", run_", step->name, "},"));
  }
  if (program.steps.empty()) writer.line("    {nullptr, nullptr},");
  writer.line("};");
  writer.line();
  writer.line("}  // namespace profile");
  writer.line(cat("}  // namespace ", name));
  return writer.text();
}

}  // namespace etch
