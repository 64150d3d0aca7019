// The facts of one network as C++ tables; see harness.h. Only identifiers that emit() makes and
// numbers go into the text.
#include "compiler/host/harness.h"

#include "compiler/base/embedded.h"
#include "compiler/base/text.h"
#include "compiler/compile.h"
#include "compiler/emit/code/parts.h"
#include "compiler/program/sized_step.h"
#include "compiler/program/state.h"
#include "compiler/text/names.h"
#include "compiler/text/writer.h"

namespace etch::cli {
namespace {

void write_call(Writer& writer, const std::string& caller, const std::string& function,
                std::size_t input_count) {
  writer.scope(
      cat("void ", caller, "(const void* const* inputs, void* const* outputs, void* arena)"), [&] {
        writer.line(
            cat("harness::call(&", function, ", inputs, ", input_count, "U, outputs, arena);"));
      });
  writer.line();
}

// The same on a pool of threads, made on first use.
void write_threaded_call(Writer& writer, const Program& program, const std::string& name) {
  writer.scope("const EtchThreads* threads()", [&] {
    writer.line(cat("static etch::ThreadPool pool(", program.shares, ");"));
    writer.line("return pool.hook();");
  });
  writer.line();
  writer.scope("void run(const void* const* inputs, void* const* outputs, void* arena)", [&] {
    write_state_in(writer, program, name);
    writer.line(cat(threaded_call(program, name), "threads());"));
    write_state_out(writer, program);
  });
  writer.line();
}

// The same on one thread, for programs with a state or for several sizes.
void write_whole_call(Writer& writer, const Program& program, const std::string& name) {
  writer.scope("void run(const void* const* inputs, void* const* outputs, void* arena)", [&] {
    write_state_in(writer, program, name);
    writer.line(whole_call(program, name, program.variants.empty() ? "" : "chosen, "));
    write_state_out(writer, program);
  });
  writer.line();
}

// Fills `steps` from the table that emit() writes with EmitOptions::profile.
void write_steps(Writer& writer, const Program& program, const std::string& name) {
  writer.scope(cat("for (int i = 0; i < ", name, "::profile::kStepCount; ++i)"), [&] {
    writer.line(cat("const ", name, "::profile::Step& step = ", name, "::profile::kSteps[i];"));
    if (program.shares == 1) {
      writer.line("network.steps.push_back({step.name, step.run});");
      return;
    }
    writer.line("const auto run_step = [run = step.run](auto inputs, auto outputs, void* arena) {");
    writer.line("  run(inputs, outputs, arena, threads());");
    writer.line("};");
    writer.line("network.steps.push_back({step.name, run_step});");
  });
}

// Not what run() calls them: the model's names could be those of other things here.
std::string parameters_of(const Program& program) {
  std::string out;
  for (const Port& port : program.inputs)
    out += cat(pointer_type(port.dtype, true), " ", port.identifier, ", ");
  for (const Port& port : program.outputs)
    out += cat(pointer_type(port.dtype, false), " ", port.identifier, ", ");
  return out + "void* arena";
}

std::string names_of(const Program& program) {
  std::string out;
  for (const auto* ports : {&program.inputs, &program.outputs}) {
    for (const Port& port : *ports) out += port.identifier + ", ";
  }
  return out + "arena";
}

// The variant that the first argument of the program names: "best" or a number.
void write_variant(Writer& writer, const Program& program, const std::string& name) {
  writer.line(cat(name, "::Isa chosen;"));
  writer.line();
  if (!state_of(program).empty()) return;
  writer.scope(cat("void run_chosen(", parameters_of(program), ") noexcept"),
               [&] { writer.line(cat(name, "::run(chosen, ", names_of(program), ");")); });
  writer.line();
}

void write_variant_choice(Writer& writer, const std::string& name) {
  writer.line("if (argc < 2) return 1;");
  writer.line(cat("chosen = std::strcmp(argv[1], \"best\") == 0 ? ", name, "::best_isa()"));
  writer.line(cat("    : static_cast<", name, "::Isa>(std::atoi(argv[1]));"));
  writer.line("--argc;");
  writer.line("++argv;");
}

std::string main_text(const Program& program, const std::string& name, Timing timing) {
  const bool one = program.variants.empty();
  // Whose steps are measured.
  const std::string steps = one ? name : variant_name(name, variant_for_this_cpu(program).isa);
  Writer writer;
  writer.line("// Runs the generated network as a program. Written by etch; see harness.h.");
  writer.line(cat("#include \"", name, ".h\""));
  if (timing == Timing::kSteps) writer.line(cat("#include \"", steps, "_profile.h\""));
  writer.line("#include \"harness.h\"");
  if (!state_of(program).empty()) writer.line("#include <string.h>");
  if (program.shares > 1) writer.line("#include \"etch/etch_thread_pool.h\"");
  writer.line();
  writer.line("namespace {");
  writer.line();
  write_state_variable(writer, program, name);
  if (!one) write_variant(writer, program, name);
  if (program.shares > 1) {
    write_threaded_call(writer, program, name);
  } else if (!state_of(program).empty() || bound_of(program) != nullptr) {
    write_whole_call(writer, program, name);
  } else {
    write_call(writer, "run", one ? cat(name, "::run") : "run_chosen", program.inputs.size());
  }
  writer.line("}  // namespace");
  writer.line();
  writer.scope("int main(int argc, char** argv)", [&] {
    if (!one) write_variant_choice(writer, name);
    writer.line("harness::Network network{");
    writer.line(cat("    ", port_table(harness_inputs(program)), ","));
    writer.line(cat("    ", port_table(program.outputs), ","));
    writer.line(cat("    ", name, "::kArenaBytes, ", name, "::kArenaAlignment, run, {}};"));
    if (timing == Timing::kSteps) write_steps(writer, program, steps);
    writer.line("return harness::main(argc, argv, network);");
  });
  return writer.text();
}

}  // namespace

std::string port_table(const std::vector<Port>& ports) {
  std::string out;
  for (const Port& port : ports) {
    const int element = bytes_of(port.dtype);
    out += cat(out.empty() ? "" : ", ", "{", element_count(port.shape) * element, "U, ", element,
               "U}");
  }
  return cat("{", out, "}");
}

std::string threaded_call(const Program& program, const std::string& name,
                          const std::string& first) {
  std::string out = cat(name, "::run(", first, state_of(program).empty() ? "" : "state, ");
  const auto add = [&](const std::vector<Port>& ports, const char* array, bool is_const) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (is_state(ports[i])) continue;
      out +=
          cat("static_cast<", pointer_type(ports[i].dtype, is_const), ">(", array, "[", i, "]), ");
    }
  };
  add(program.inputs, "inputs", true);
  add(program.outputs, "outputs", false);
  return out + "arena, ";
}

std::vector<Port> harness_inputs(const Program& program) {
  std::vector<Port> out = program.inputs;
  if (bound_of(program) == nullptr) return out;
  Port& size = out.emplace_back();
  size.dtype = DType::kS32;
  return out;
}

std::string whole_call(const Program& program, const std::string& name, const std::string& first) {
  std::string call = threaded_call(program, name, first);
  if (bound_of(program) != nullptr) {
    return cat("if (!", call, "static_cast<size_t>(*static_cast<const int32_t*>(inputs[",
               program.inputs.size(), "])))) __builtin_trap();");
  }
  call.resize(call.size() - 2);  // ", "
  return call + ");";
}

void write_state_variable(Writer& writer, const Program& program, const std::string& name) {
  if (state_of(program).empty()) return;
  writer.line(cat(name, "::State state;"));
  writer.line();
}

void write_state_in(Writer& writer, const Program& program, const std::string& name) {
  const StateLayout state = state_of(program);
  if (!state.empty()) writer.line(cat(name, "::reset(state);"));
  for (const StatePort& port : state.ports) {
    writer.line(cat("memcpy(state.bytes + ", port.offset, ", inputs[", port.input, "], ",
                    port.bytes, ");"));
  }
}

void write_state_out(Writer& writer, const Program& program) {
  for (const StatePort& port : state_of(program).ports) {
    writer.line(cat("memcpy(outputs[", port.output, "], state.bytes + ", port.offset, ", ",
                    port.bytes, ");"));
  }
}

std::vector<OutputFile> harness_files(const Program& program, const std::string& name,
                                      Timing timing, const Machine* machine) {
  if (machine != nullptr && machine->kind == Machine::Kind::kFirmware) {
    return firmware_harness_files(program, name, timing);
  }
  return {{"harness.h", std::string(embedded_file("templates/files/harness.h"))},
          {"main.cc", main_text(program, name, timing)}};
}

}  // namespace etch::cli
