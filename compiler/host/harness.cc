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

// Calls of a program with shares are on a pool of threads, made on first use.
void write_pool(Writer& writer, const Program& program) {
  writer.scope("const EtchThreads* threads()", [&] {
    writer.line(cat("static etch::ThreadPool pool(", program.shares, ");"));
    writer.line("return pool.hook();");
  });
  writer.line();
}

void write_run(Writer& writer, const Program& program, const std::string& name) {
  writer.scope(
      "void run([[maybe_unused]] const void* const* inputs, [[maybe_unused]] void* const* outputs, "
      "void* arena)",
      [&] {
        write_state_in(writer, program, name);
        writer.line(program.shares > 1
                        ? cat(threaded_call(program, name), "threads());")
                        : whole_call(program, name, program.variants.empty() ? "" : "chosen, "));
        write_state_out(writer, program);
      });
  writer.line();
}

// Steps of a program with shares, as the harness calls them.
void write_steps_on_threads(Writer& writer, const std::string& name) {
  writer.open("struct Step");
  writer.line(cat(name, "::profile::Step step;"));
  writer.line("const char* name;");
  writer.scope("void run(const void* const* inputs, void* const* outputs, void* arena) const",
               [&] { writer.line("step.run(inputs, outputs, arena, threads());"); });
  writer.close("};");
  writer.line(cat("Step steps[", name, "::profile::kStepCount + 1];"));
  writer.line();
}

// The last arguments of harness::main(), after lines of main() that fill the table.
std::string write_steps(Writer& writer, const Program& program, const std::string& name) {
  const std::string profile = cat(name, "::profile::");
  if (program.shares == 1) return cat(", ", profile, "kSteps, ", profile, "kStepCount");
  writer.scope(cat("for (int i = 0; i < ", profile, "kStepCount; ++i)"), [&] {
    writer.line(cat("steps[i] = {", profile, "kSteps[i], ", profile, "kSteps[i].name};"));
  });
  return cat(", steps, ", profile, "kStepCount");
}

// The first argument of the program names a variant: "best" or a number.
void write_variant_choice(Writer& writer, const std::string& name) {
  writer.line("if (argc < 2) return 1;");
  writer.line(cat("chosen = strcmp(argv[1], \"best\") == 0 ? ", name, "::best_isa()"));
  writer.line(cat("    : static_cast<", name, "::Isa>(atoi(argv[1]));"));
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
  if (program.shares > 1) writer.line("#include \"etch/etch_thread_pool.h\"");
  writer.line();
  writer.line("namespace {");
  writer.line();
  write_ports(writer, program);
  write_state_variable(writer, program, name);
  if (!one) {
    writer.line(cat(name, "::Isa chosen;"));
    writer.line();
  }
  if (program.shares > 1) write_pool(writer, program);
  write_run(writer, program, name);
  if (program.shares > 1 && timing == Timing::kSteps) write_steps_on_threads(writer, steps);
  writer.line("}  // namespace");
  writer.line();
  writer.scope("int main(int argc, char** argv)", [&] {
    if (!one) write_variant_choice(writer, name);
    writer.line(cat("const harness::Network network{", network_fields(program, name), ", run};"));
    const std::string table =
        timing == Timing::kSteps ? write_steps(writer, program, steps) : std::string();
    writer.line(cat("return harness::main(argc, argv, network", table, ");"));
  });
  return writer.text();
}

}  // namespace

void write_ports(Writer& writer, const Program& program) {
  const auto write = [&](const char* table, const std::vector<Port>& ports) {
    if (ports.empty()) {
      writer.line(cat("constexpr const harness::Port* ", table, " = nullptr;"));
    } else {
      writer.line(cat("constexpr harness::Port ", table, "[] = ", port_table(ports), ";"));
    }
  };
  write("kInputs", harness_inputs(program));
  write("kOutputs", program.outputs);
  writer.line();
}

std::string network_fields(const Program& program, const std::string& name) {
  return cat("kInputs, ", harness_inputs(program).size(), ", kOutputs, ", program.outputs.size(),
             ", ", name, "::kArenaBytes, ", name, "::kArenaAlignment");
}

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

OutputFile harness_file(const std::string& name) {
  return {name, std::string(embedded_file(cat("templates/files/", name)))};
}

std::vector<OutputFile> harness_files(const Program& program, const std::string& name,
                                      Timing timing, const Machine* machine) {
  if (machine != nullptr && machine->kind == Machine::Kind::kFirmware) {
    return firmware_harness_files(program, name, timing);
  }
  return {harness_file("harness.h"),
          harness_file("harness_network.h"),
          {"main.cc", main_text(program, name, timing)}};
}

}  // namespace etch::cli
